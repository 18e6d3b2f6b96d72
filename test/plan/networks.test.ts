import { describe, expect, it } from 'vitest';
import { exportDocuments } from '../../src/features/config/archive/export.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { group } from '../kinds/objects.ts';
import {
  applyOn,
  bodyOf,
  createOn,
  deleteOn,
  document,
  linesOf,
  objectOf,
  office,
  planned,
  planOn,
  refusals,
  replaceOn,
  warningsOf,
} from './steps.ts';

const state = office.with({ put: [group('servers'), group('gates', ['p1', 'p2'])], remove: [] });
const network = (spec: JsonObject, name = 'office') => document('Network', name, spec);
const files = { name: 'files', address: '10.20.0.10', groups: ['servers'] };
const byPeer = { peer: 'p1', metric: 100 };
const byGroup = { peer_groups: ['gates'] };

/** Returns an export of the account as documents. */
function exported(from: Snapshot): readonly Document[] {
  return exportDocuments(from).map(({ kind, metadata, spec }, line) => ({
    kind,
    metadata,
    spec,
    position: { file: 'export.yaml', line, index: line, pointer: '' },
  }));
}

describe('a network document with inline children', () => {
  const full = network({ name: 'Office', resources: [files], routers: [byPeer, byGroup] });

  it('creates the children as separate objects in one revision, and then plans nothing', () => {
    const outcome = planOn(state, 'a', [full]);
    expect([...linesOf(outcome, state)].sort()).toEqual([
      'create Network/office',
      'create NetworkResource/office/files',
      'create NetworkRouter/office/groups/gates',
      'create NetworkRouter/office/peer/p1',
    ]);
    expect(linesOf(planOn(planned(outcome).next, 'a', [full]), planned(outcome).next)).toEqual([]);
  });

  it('is equivalent to a separate document for each child', () => {
    const parts = [
      network({ name: 'Office' }),
      document('NetworkResource', 'files', { network: 'office', address: '10.20.0.10', groups: ['servers'] }),
      document('NetworkRouter', 'first', { network: 'office', ...byPeer }),
      document('NetworkRouter', 'second', { network: 'office', ...byGroup }),
    ];
    const next = applyOn(state, 'a', [full]);
    expect(linesOf(planOn(next, 'a', parts), next)).toEqual([]);
  });

  it('can be used in policies by the key and by the name of its resource', () => {
    const policy = (name: string, id: string) =>
      document('Policy', name, {
        rules: [
          { name: 'r', action: 'accept', protocol: 'all', sources: ['All'], destinationResource: { id, type: 'host' } },
        ],
      });
    const first = applyOn(state, 'a', [full, policy('by-key', 'office/files')]);
    const next = applyOn(first, 'b', [policy('by-name', 'files')]);
    const { id } = objectOf(next, 'NetworkResource', 'office/files');
    expect(next.referrersOf(id).map(({ from }) => from.key)).toEqual(expect.arrayContaining(['by-key', 'by-name']));
    expect(refusals(deleteOn(next, objectOf(next, 'Network', 'office').id))).toContain('managed_field Network/office');
  });

  it('deletes children removed from the document, and keeps children made by the API and their network', () => {
    const first = applyOn(state, 'a', [full]);
    const { id } = objectOf(first, 'Network', 'office');
    const printer = { name: 'printer', address: '10.20.0.30', enabled: true, groups: [] };
    const next = planned(createOn(first, 'NetworkResource', printer, id)).next;
    const outcome = planOn(next, 'a', [network({ name: 'Office', routers: [byPeer] })]);
    expect([...linesOf(outcome, next)].sort()).toEqual([
      'delete NetworkResource/office/files',
      'delete NetworkRouter/office/groups/gates',
    ]);
    const kept = planOn(next, 'a', [document('Group', 'other')]);
    expect(warningsOf(kept)).toEqual(['in_use office']);
  });

  it('refuses a resource name that is used twice in the account', () => {
    const twice = planOn(state, 'a', [network({ resources: [files] }), network({ resources: [files] }, 'lab')]);
    expect(refusals(twice).map((line) => line.split(' ')[0])).toContain('value_taken');
  });

  it.each<readonly [string, JsonObject, string]>([
    ['a metric', { routers: [{ peer: 'p1', metric: 0 }] }, 'value_out_of_range'],
    ['no peer', { routers: [{ metric: 1 }] }, 'router_exclusive'],
    ['a peer and groups', { routers: [{ peer: 'p1', peer_groups: ['gates'] }] }, 'router_exclusive'],
    ['host bits', { resources: [{ name: 'x', address: '10.0.0.1/8' }] }, 'address_invalid'],
    ['no name', { resources: [{ address: '10.0.0.1' }] }, 'field_required'],
    ['an unknown group', { resources: [{ ...files, groups: ['nobody'] }] }, 'reference_unknown'],
    ['its computed members', { policies: [] }, 'field_unknown'],
  ])('refuses %s in a document: %j', (_, spec, code) => {
    expect(refusals(planOn(state, 'a', [network(spec)])).map((line) => line.split(' ')[0])).toEqual([code]);
  });

  it('leaves out a router with a peer that is not enrolled yet, and warns of it', () => {
    const outcome = planOn(state, 'a', [network({ routers: [{ peer: 'later' }] })]);
    expect(linesOf(outcome, state)).toEqual(['create Network/office']);
    expect(warningsOf(outcome)).toEqual(['reference_pending office/peer/later']);
  });
});

describe('a router', () => {
  it('keeps its id when its peer changes', () => {
    const first = applyOn(state, 'a', [network({ routers: [byPeer] })]);
    const { id } = objectOf(first, 'NetworkRouter', 'office/peer/p1');
    const outcome = planOn(first, 'a', [network({ routers: [{ ...byPeer, peer: 'p2' }] })]);
    expect(linesOf(outcome, first)).toEqual(['update NetworkRouter/office/peer/p2: peer']);
    expect(objectOf(planned(outcome).next, 'NetworkRouter', 'office/peer/p2').id).toBe(id);
  });

  it('needs its own key if another router has the same peer, and requests leave that key unchanged', () => {
    const twice = network({ routers: [byPeer, byPeer] });
    expect(refusals(planOn(state, 'a', [twice])).map((line) => line.split(' ')[0])).toEqual(['object_duplicate']);
    const documents = [network({ routers: [{ ...byPeer, key: 'backup', metric: 200 }, byPeer] })];
    const next = applyOn(state, 'a', documents);
    const backup = objectOf(next, 'NetworkRouter', 'office/backup');
    expect(backup.spec).toMatchObject({ key: 'backup', peer: 'p1', metric: 200 });
    const body = Object.fromEntries(Object.entries(bodyOf(backup.spec)).filter(([name]) => name !== 'key'));
    const replaced = replaceOn(next, 'NetworkRouter', backup.id, { ...body, key: undefined as never });
    expect(planned(replaced).plan.changes).toEqual([]);
  });
});

describe('the export of networks made by the API', () => {
  const made = planned(createOn(state, 'Network', { name: 'Head office' })).next;
  const { id } = objectOf(made, 'Network', 'Head office');
  const router = { metric: 5, masquerade: true, enabled: true };
  const filled = [
    ['NetworkResource', { ...files, enabled: true, name: 'File server' }],
    ['NetworkRouter', { ...router, peer_groups: ['servers', 'gates'] }],
    ['NetworkRouter', { ...router, peer: 'p3' }],
  ].reduce((next, [kind, body]) => planned(createOn(next, kind as string, body as JsonObject, id)).next, made);

  it('plans no changes for a source, and nothing after it is applied', () => {
    const outcome = planOn(filled, 'a', exported(filled));
    expect(planned(outcome).plan.changes).toEqual([]);
    expect(
      linesOf(outcome, filled)
        .filter((line) => line.startsWith('claim Network'))
        .sort(),
    ).toEqual([
      'claim Network/head-office',
      'claim NetworkResource/head-office/File server',
      'claim NetworkRouter/head-office/groups/gates,servers',
      'claim NetworkRouter/head-office/peer/p3',
    ]);
    const { next } = planned(outcome);
    expect(linesOf(planOn(next, 'a', exported(next)), next)).toEqual([]);
  });
});

describe('the export of two routers with the same peer', () => {
  const made = planned(createOn(state, 'Network', { name: 'Head office' })).next;
  const { id } = objectOf(made, 'Network', 'Head office');
  const router = (metric: number) => ({ metric, masquerade: true, enabled: true, peer: 'p1' });
  const addRouter = (before: Snapshot, metric: number) =>
    planned(createOn(before, 'NetworkRouter', router(metric), id)).next;
  const routersIn = (from: Snapshot) =>
    from.ofKind('NetworkRouter').map(({ id: own, key, spec }) => [own, key, spec['metric']] as const);

  it('gives each router a unique key, plans no changes, and nothing after it is applied', () => {
    const two = addRouter(addRouter(made, 5), 7);
    const first = exported(two);
    const [one, other] = two.ofKind('NetworkRouter');
    expect(first.filter(({ kind }) => kind === 'NetworkRouter').map(({ spec }) => spec)).toEqual([
      { network: 'head-office', key: `networkrouter-${one?.id}`, peer: 'p1', metric: 5 },
      { network: 'head-office', key: `networkrouter-${other?.id}`, peer: 'p1', metric: 7 },
    ]);
    const outcome = planOn(two, 'a', first);
    expect(planned(outcome).plan.changes).toEqual([]);
    const { next } = planned(outcome);
    expect(routersIn(next)).toEqual(
      [one, other].map((was) => [was?.id, `head-office/networkrouter-${was?.id}`, was?.spec['metric']]),
    );
    const second = exported(next);
    expect(second.some(({ kind }) => kind === 'NetworkRouter')).toBe(false);
    expect(linesOf(planOn(next, 'a', second), next)).toEqual([]);
  });

  it('keeps a router of a source inline in its network', () => {
    const owned = applyOn(made, 'a', [
      ...exported(made).filter(({ kind }) => kind !== 'Network'),
      network({ name: 'Head office', routers: [{ peer: 'p1', metric: 5 }] }, 'head-office'),
    ]);
    const both = addRouter(owned, 7);
    const documents = exported(both);
    expect(documents.find(({ kind }) => kind === 'Network')?.spec['routers']).toEqual([{ peer: 'p1', metric: 5 }]);
    const outcome = planOn(both, 'a', documents);
    expect(planned(outcome).plan.changes).toEqual([]);
    expect(linesOf(planOn(planned(outcome).next, 'a', exported(planned(outcome).next)), both)).toEqual([]);
  });

  it('includes the routers when only networks are exported, and not when only groups are', () => {
    const two = addRouter(addRouter(made, 5), 7);
    const kindsOf = (kind: string) => exportDocuments(two, { kind }).map((found) => found.kind);
    expect(kindsOf('Network')).toEqual(['Network', 'NetworkRouter', 'NetworkRouter']);
    expect(kindsOf('Group')).not.toContain('NetworkRouter');
  });
});

describe('a posture check document', () => {
  const check = (checks: JsonObject) => document('PostureCheck', 'healthy', { checks });
  const version = { client_version_check: { min_version: '1.4' } };
  const locationCheck = {
    geo_location_check: { locations: [{ country_code: 'DE', city_name: 'Berlin' }], action: 'allow' },
  };

  it('removes a check as a whole when the document no longer states it', () => {
    const first = applyOn(state, 'a', [check({ ...version, ...locationCheck })]);
    const outcome = planOn(first, 'a', [check(version)]);
    expect(linesOf(outcome, first)).toEqual(['update PostureCheck/healthy: checks.geo_location_check']);
    expect(objectOf(planned(outcome).next, 'PostureCheck', 'healthy').spec['checks']).toEqual(version);
  });

  it('can be shared by sources, each of which owns the checks that it states', () => {
    const first = applyOn(state, 'a', [check(version)]);
    const next = applyOn(first, 'b', [check(locationCheck)]);
    expect(objectOf(next, 'PostureCheck', 'healthy').spec['checks']).toEqual({ ...version, ...locationCheck });
    const other = { client_version_check: { min_version: '2' } };
    expect(refusals(planOn(next, 'b', [check(other)]))).toEqual(['unit_conflict PostureCheck/healthy /spec/checks']);
    const { id } = objectOf(next, 'PostureCheck', 'healthy');
    const edited = replaceOn(next, 'PostureCheck', id, { checks: { ...locationCheck, ...other } });
    expect(refusals(edited)).toEqual(['managed_field PostureCheck/healthy /checks']);
  });

  it('refuses unknown members and values that the HTTP API refuses', () => {
    expect(refusals(planOn(state, 'a', [check({ geo_check: {} })]))).toEqual([
      'field_unknown PostureCheck/healthy /spec/checks/geo_check',
    ]);
    expect(refusals(planOn(state, 'a', [check({ process_check: { processes: [{}] } })]))).toEqual([
      'process_without_path PostureCheck/healthy /spec/checks/process_check/processes/0',
    ]);
  });

  it('is deleted only after the policies that use it', () => {
    const policy = document('Policy', 'p', {
      source_posture_checks: ['healthy'],
      rules: [{ name: 'r', action: 'accept', protocol: 'all', sources: ['All'], destinations: ['All'] }],
    });
    const next = applyOn(state, 'a', [check(version), policy]);
    expect(linesOf(planOn(next, 'a', [], { allowEmpty: true }), next)).toEqual([
      'delete Policy/p',
      'delete PostureCheck/healthy',
    ]);
    const kept = planOn(next, 'a', [policy]);
    expect(refusals(kept)).toEqual(['reference_deleted Policy/p /spec/source_posture_checks/0']);
  });

  it('plans no changes from its export', () => {
    const processes = { process_check: { processes: [{ linux_path: '/usr/bin/x' }] } };
    const empty = { os_version_check: {} };
    const next = applyOn(state, 'a', [check({ ...version, ...locationCheck, ...processes, ...empty })]);
    const outcome = planOn(next, 'a', exported(next));
    expect(planned(outcome).plan.changes).toEqual([]);
    const [found] = exported(next).filter(({ kind }) => kind === 'PostureCheck');
    expect(found?.spec['checks']).toEqual({ ...version, ...locationCheck, ...processes, ...empty });
  });
});
