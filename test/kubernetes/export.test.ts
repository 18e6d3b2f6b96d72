import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPlaceholders, findExternalReferences } from '../../src/cli/offline/references.ts';
import { runInSlices } from '../../src/commit/slices.ts';
import { nameFault } from '../../src/documents/name.ts';
import { readFile } from '../../src/documents/read.ts';
import { writeDocuments } from '../../src/documents/write.ts';
import { type ExportFilter, exportDocuments } from '../../src/features/config/archive/export.ts';
import { resourceOf } from '../../src/features/config/archive/resources.ts';
import { fileOf } from '../../src/features/sources/kubernetes/resource-file.ts';
import { emptyEnvironment } from '../../src/model/declare/plan-environment.ts';
import type { Document } from '../../src/model/document.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { environmentOfPush } from '../../src/model/schema/values.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { expandDocuments } from '../../src/plan/documents/desired.ts';
import { account, group, peer, registry, stored } from '../kinds/objects.ts';
import { accounts } from '../plan/arbitrary.ts';
import { applyOn, linesOf, office, planned, planOn } from '../plan/steps.ts';
import { structuralFaults } from './verdicts.ts';

const root = new URL('../..', import.meta.url).pathname;

/**
 * Returns the documents of an account after a round trip through a cluster, and the faults that its API server would
 * find.
 */
function throughCluster(state: Snapshot): {
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
function changesOf(state: Snapshot, documents: readonly Document[]): readonly string[] {
  const lines = linesOf(planOn(state, 'k8s.team-a', documents), state);
  return lines.filter((line) => !line.startsWith('claim '));
}

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
      { numRuns: 40 },
    );
  });

  test('covers an example of every kind', async () => {
    const documents = globSync('examples/kinds/*.yaml', { cwd: root })
      .sort()
      .flatMap((path) => readFile({ path, text: readFileSync(`${root}${path}`, 'utf8') }).documents);
    const peers = ['build-server', 'database', 'ana-laptop', 'edge-frankfurt'].map((name, at) =>
      peer(name, `100.72.1.${at + 1}`),
    );
    const tenants = documents
      .filter(({ kind }) => kind === 'MSPTenant')
      .map(({ kind, metadata, spec }) => stored(kind, 't1', { ...spec, groups: [] }, { key: metadata.name }));
    // Other network ranges would give peers other addresses than their documents state.
    const ranges = { network_range: '100.72.0.0/16', network_range_v6: 'fd00:7a3c:91e2::/64' };
    const base = office.with({ put: [...peers, ...tenants, { ...account(ranges), key: 'account' }], remove: [] });
    const expanded = await runInSlices(expandDocuments(registry, createValidator(registry), documents));
    const outside = findExternalReferences(base, expanded);
    const groups = createPlaceholders(outside.names).map((one) =>
      one.kind === 'Group' ? group(one.id, [], { name: one.id, key: one.key ?? one.id }) : one,
    );
    const state = base.with({ put: groups, remove: [] });
    const named = JSON.stringify(documents).match(/HEDDLE_VALUE_\w+/g) ?? [];
    const values = Object.fromEntries(named.map((name) => [`env:${name}`, 'dmFsdWU=']));
    const planEnvironment = {
      ...environmentOfPush(emptyEnvironment, values, { account: '', source: '' }),
      edition: 'hosted' as const,
      random: (bytes: number) => new Uint8Array(bytes),
    };
    const sound = documents.filter(({ place }) => !outside.orphans.has(place));
    const { next } = planned(planOn(state, 'git', sound, { planEnvironment }));
    const through = throughCluster(next);
    expect(through.faults).toEqual([]);
    expect(changesOf(next, through.documents)).toEqual([]);
    const kinds = new Set([...next.objects()].map(({ kind }) => kind));
    expect(sound).toHaveLength(documents.length);
    expect(documents.map(({ kind }) => kind).filter((kind) => !kinds.has(kind))).toEqual([]);
  });
});

describe('names of exported children', () => {
  const declared = [{ source: 'x', file: 'x.yaml', line: 1, stated: {} }];
  const net = (key: string) => stored('Network', `n-${key}`, { name: key }, { key });
  const host = (id: string, parent: string, name: string) =>
    stored('NetworkResource', id, { name, address: '10.0.0.1/32', enabled: true, groups: [] }, { parent, declared });

  test('are distinct when parent and child would combine to the same name', () => {
    const children = [host('h1', 'n-a', 'b c'), host('h2', 'n-a-b', 'c')];
    const state = office.with({ put: [net('a'), net('a-b'), ...children], remove: [] });
    const nameIn = (filter: ExportFilter) => exportDocuments(state, filter).map(({ metadata }) => metadata.name);
    expect([nameIn({ id: 'h1' }), nameIn({ id: 'h2' })]).toEqual([['a-b-c'], ['a-b-c']]);
    expect(nameIn({ source: 'x' })).toEqual(['a-b-c-h1', 'a-b-c-h2']);
  });

  test('do not exceed the maximum length of a name', () => {
    const state = office.with({
      put: [net('a'.repeat(200)), host('h1', `n-${'a'.repeat(200)}`, 'b'.repeat(200)), group('g')],
      remove: [],
    });
    const [found] = exportDocuments(state, { id: 'h1' });
    expect(nameFault(found?.metadata.name ?? '')).toBeUndefined();
    expect(found?.spec['name']).toBe('b'.repeat(200));
  });
});

test('previous names are exported as an annotation beside the other annotations', () => {
  const document = {
    ...{ apiVersion: 'heddle.dev/v1', kind: 'Group', spec: {} },
    metadata: { name: 'a', previousNames: ['b', 'c'], annotations: { 'heddle.dev/prevent-delete': 'true' } },
  };
  const annotations = { 'heddle.dev/prevent-delete': 'true', 'heddle.dev/previous-names': 'b, c' };
  expect(resourceOf(document, undefined)).toEqual({ ...document, metadata: { name: 'a', annotations } });
  expect(resourceOf(document, 'mesh').metadata.namespace).toBe('mesh');
});
