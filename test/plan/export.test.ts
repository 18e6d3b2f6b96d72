import { describe, expect, it } from 'vitest';
import { type ExportFilter, exportDocuments } from '../../src/features/config/archive/export.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { group, stored } from '../kinds/objects.ts';
import { applyOn, createOn, document, linesOf, objectOf, office, planned, planOn } from './steps.ts';

/** Returns an export as documents. */
function exported(state: Snapshot, filter: ExportFilter): readonly Document[] {
  return exportDocuments(state, filter).map(({ kind, metadata, spec }, line) => ({
    ...{ kind, metadata, spec, position: { file: 'export.yaml', line, index: line, pointer: '' } },
  }));
}

/** Returns the changes that the documents make to the account, except claims of ownership. */
function changesOf(state: Snapshot, documents: readonly Document[]): readonly string[] {
  return linesOf(planOn(state, 'importer', documents), state).filter((line) => !line.startsWith('claim '));
}

const rule = { name: 'r', enabled: true, action: 'accept', bidirectional: true, protocol: 'all' };
const withGroups = office.with({
  put: [group('g1', [], { name: 'Dev Team' }), group('g2', [], { name: 'twins' }), group('g3', [], { name: 'twins' })],
  remove: [],
});
const policy = { name: 'Devs', enabled: true, rules: [{ ...rule, sources: ['g1', 'g2'], destinations: ['All'] }] };
const byHand = planned(createOn(withGroups, 'Policy', policy)).next;
const zone = {
  name: 'Lan',
  domain: 'lan.example.com',
  distribution_groups: ['g1'],
  enabled: true,
  enable_search_domain: false,
};
const withZone = planned(createOn(byHand, 'DNSZone', zone)).next;
const zoneId = withZone.lookUp('DNSZone', 'name', 'Lan')[0]?.id ?? '';
const record = (name: string) => ({ name: `${name}.lan.example.com`, type: 'A', content: '10.0.0.1', ttl: 60 });
const state = planned(
  createOn(planned(createOn(withZone, 'DNSRecord', record('www'), zoneId)).next, 'DNSRecord', record('api'), zoneId),
).next;

describe('an export of part of an account', () => {
  it('refers to objects left out by name, or by id where the name is ambiguous', () => {
    const [found] = exportDocuments(state, { kind: 'Policy' });
    expect(found?.spec['rules']).toMatchObject([{ sources: ['name:Dev Team', 'id:g2'], destinations: ['All'] }]);
  });

  it('refers to included objects by key', () => {
    const found = exportDocuments(state).find(({ kind }) => kind === 'Policy');
    expect(found?.spec['rules']).toMatchObject([{ sources: ['dev-team', 'twins-g2'] }]);
  });

  it.each(['Policy', 'Group', 'DNSZone'])('plans no change for kind %s alone', (kind) => {
    expect(changesOf(state, exported(state, { kind }))).toEqual([]);
  });

  it('E80 plans no change for any one object alone, and lets exactly that object be adopted', () => {
    const objects = [...state.objects()].filter(({ kind }) =>
      ['Policy', 'Group', 'DNSZone', 'DNSRecord'].includes(kind),
    );
    const results = objects.flatMap((object) => {
      const documents = exported(state, { id: object.id, markAdopt: true });
      if (documents.length === 0) return [];
      const { next, plan } = planned(planOn(state, 'importer', documents));
      return [[object.name, plan.changes.length, next.get(object.id)?.key !== undefined]];
    });
    expect(results).toHaveLength(objects.length - 1);
    expect(results.filter(([, changes, keyed]) => changes !== 0 || keyed !== true)).toEqual([]);
  });

  it('leaves out system objects, even when they are requested', () => {
    const all = state.lookUp('Group', 'name', 'All')[0]?.id ?? '';
    expect(exportDocuments(state, { id: all })).toEqual([]);
  });

  it('contains, for a source, only the children that it states', () => {
    const own = document('DNSZone', 'ours', { domain: 'our.example.com', distribution_groups: ['All'], records: [] });
    const first = applyOn(state, 'a', [own, document('DNSRecord', 'web', { zone: `id:${zoneId}`, ...record('web') })]);
    const { id } = objectOf(first, 'DNSZone', 'ours');
    const more = { name: 'x.our.example.com', type: 'A', content: '10.0.0.2', ttl: 60 };
    const both = planned(createOn(first, 'DNSRecord', more, id)).next;
    const names = exportDocuments(both, { source: 'a' }).map(({ kind, spec }) => [
      kind,
      spec['records'] ?? spec['name'],
    ]);
    expect(names).toEqual([
      ['DNSRecord', 'web.lan.example.com'],
      ['DNSZone', undefined],
    ]);
    expect(
      linesOf(planOn(both, 'a', exported(both, { source: 'a' })), both).filter((line) => !/^claim/.test(line)),
    ).toEqual([]);
  });

  const network = planned(createOn(byHand, 'Network', { name: 'Head Office' })).next;
  const networkId = network.lookUp('Network', 'name', 'Head Office')[0]?.id ?? '';
  const server = { name: 'File server', address: '10.1.0.0/24', enabled: true, groups: [] };
  const withServer = planned(createOn(network, 'NetworkResource', server, networkId)).next;
  const destinationResource = {
    id: withServer.lookUp('NetworkResource', 'name', 'File server')[0]?.id ?? '',
    type: 'subnet',
  };
  const toServer = { name: 'To it', enabled: true, rules: [{ ...rule, sources: ['g1'], destinationResource }] };
  const withResource = planned(createOn(withServer, 'Policy', toServer)).next;
  const resourceIn = (documents: readonly Document[]) =>
    JSON.stringify(documents.find(({ metadata }) => metadata.name === 'to-it')?.spec['rules']);

  it('refers to a child inside the document of its parent by the key that it gets there', () => {
    const documents = exported(withResource, {});
    expect(resourceIn(documents)).toContain('"id":"head-office/File server"');
    expect(changesOf(withResource, documents)).toEqual([]);
  });

  it('refers to a child by its name when its parent is not exported, or does not contain it', () => {
    const policies = exported(withResource, { kind: 'Policy' });
    expect(resourceIn(policies)).toContain('"id":"name:File server"');
    expect(changesOf(withResource, policies)).toEqual([]);
    const adopt = { annotations: { 'heddle.dev/adopt': `id:${networkId}` } };
    const policyDocument = policies.find(({ metadata }) => metadata.name === 'to-it');
    const owned = applyOn(withResource, 'a', [
      document('Network', 'hq', { name: 'Head Office' }, adopt),
      document('Policy', 'to-it', policyDocument?.spec),
    ]);
    const own = exported(owned, { source: 'a' });
    expect(own.map(({ kind, spec }) => [kind, spec['resources']])).toEqual([
      ['Network', undefined],
      ['Policy', undefined],
    ]);
    expect(resourceIn(own)).toContain('"id":"name:File server"');
    expect(linesOf(planOn(owned, 'a', own), owned)).toEqual([]);
  });

  it('contains the members of every document in the order in which its kind declares them', () => {
    const port = { name: 'http', enabled: true, port_ranges: [{ start: 80, end: 80, protocol: 'tcp' }] };
    const withPort = office.with({ put: [{ ...stored('IngressPort', 'i1', port), parent: 'p1' }], remove: [] });
    expect(exportDocuments(withPort, { id: 'i1' }).map(({ spec }) => Object.keys(spec))).toEqual([
      ['peer', 'name', 'port_ranges'],
    ]);
  });

  it('contains a network selected by its id, with a key derived from its name', () => {
    const network = state.with({ put: [stored('Network', 'n1', { name: 'Net' })], remove: [] });
    expect(exportDocuments(network, { id: 'n1' })).toMatchObject([{ kind: 'Network', metadata: { name: 'net' } }]);
  });
});
