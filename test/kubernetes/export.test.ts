import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createPlaceholders, findExternalReferences } from '../../src/cli/offline/references.ts';
import { runInSlices } from '../../src/commit/slices.ts';
import { nameFault } from '../../src/documents/name.ts';
import { readFile } from '../../src/documents/read.ts';
import { type ExportFilter, exportDocuments } from '../../src/features/config/archive/export.ts';
import { resourceOf } from '../../src/features/config/archive/resources.ts';
import { emptyEnvironment } from '../../src/model/declare/plan-environment.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { environmentOfPush } from '../../src/model/schema/values.ts';
import { expandDocuments } from '../../src/plan/documents/desired.ts';
import { account, group, peer, registry, stored } from '../kinds/objects.ts';
import { office, planned, planOn } from '../plan/steps.ts';
import { changesOf, testRoundTrips, throughCluster } from './exported-resources.ts';

const root = new URL('../..', import.meta.url).pathname;

testRoundTrips(5);

describe('an account exported as resources', () => {
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
    const sound = documents.filter(({ position }) => !outside.orphans.has(position));
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
