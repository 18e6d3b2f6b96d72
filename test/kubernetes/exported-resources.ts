import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nameFault } from '../../src/documents/name.ts';
import { readFile } from '../../src/documents/read.ts';
import { writeDocuments } from '../../src/documents/write.ts';
import { exportDocuments } from '../../src/features/config/archive/export.ts';
import { resourceOf } from '../../src/features/config/archive/resources.ts';
import { fileOf } from '../../src/features/sources/kubernetes/resource-file.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { registry } from '../kinds/objects.ts';
import { accounts } from '../plan/arbitrary.ts';
import { applyOn, linesOf, office, planOn } from '../plan/steps.ts';
import { structuralFaults } from './verdicts.ts';

/**
 * Returns the documents of an account after a round trip through a cluster, and the faults that its API server would
 * find.
 */
export function throughCluster(state: Snapshot): {
  readonly faults: readonly string[];
  readonly documents: readonly Document[];
} {
  const text = writeDocuments(exportDocuments(state).map((document) => resourceOf(document, 'team-a')));
  const { documents, problems } = readFile({ path: 'export.yaml', text });
  expect(problems).toEqual([]);
  const faults = documents.flatMap(({ kind, metadata: { name }, spec }) => [
    ...(nameFault(name) === undefined ? [] : [`${kind} ${name}: bad name`]),
    ...structuralFaults(registry.get(kind), spec).map((fault) => `${kind} ${name}: ${fault}`),
  ]);
  const names = documents.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  const repeated = names.filter((name, at) => names.indexOf(name) !== at);
  const files = documents.map(({ kind, metadata: { name, annotations }, spec }) =>
    fileOf(
      {
        metadata: { name, namespace: 'team-a', uid: 'u', resourceVersion: '1', ...(annotations && { annotations }) },
        spec,
      },
      { kind, plural: kind.toLowerCase() },
      'heddle.dev/v1',
    ),
  );
  return { faults: [...faults, ...repeated], documents: files.flatMap((file) => readFile(file).documents) };
}

/**
 * Returns the lines of the plan that a namespace with these documents produces, except for ownership lines (`claim`).
 */
export function changesOf(state: Snapshot, documents: readonly Document[]): readonly string[] {
  const lines = linesOf(planOn(state, 'k8s.team-a', documents), state);
  return lines.filter((line) => !line.startsWith('claim '));
}

/** Declares the property test of accounts that are exported as resources and stated by a cluster. */
export function testRoundTrips(numRuns: number): void {
  describe('an account exported as resources', () => {
    test('is valid against the CRDs, and plans no changes when a cluster states it', () => {
      fc.assert(
        fc.property(accounts, (stated) => {
          const state = applyOn(office, 'git', stated);
          const { faults, documents } = throughCluster(state);
          expect(faults).toEqual([]);
          expect(changesOf(state, documents)).toEqual([]);
          const next = applyOn(state, 'k8s.team-a', documents);
          expect([...next.objects()].map(({ id, key }) => [id, key])).toEqual(
            [...state.objects()].map(({ id, key }) => [id, key]),
          );
          expect(linesOf(planOn(next, 'k8s.team-a', documents), next)).toEqual([]);
        }),
        { numRuns },
      );
    });
  });
}
