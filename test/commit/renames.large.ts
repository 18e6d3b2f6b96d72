import { expect, it } from 'vitest';
import type { Snapshots } from '../../src/commit/snapshots.ts';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { objectsOf } from '../plan/invariants.ts';
import { allow, document, objectOf } from '../plan/steps.ts';
import { eachEngine } from '../setup/database.ts';
import { applyRequest, newOffice, type Office, rowsOf } from './office.ts';

const group = (name: string, display: string, ...previousNames: readonly string[]): Document =>
  document('Group', name, { name: display }, { previousNames });

const zone = (name: string, previousNames: readonly string[], domain = `${name}.example.com`): Document =>
  document(
    'DNSZone',
    name,
    {
      name: domain,
      domain,
      distribution_groups: ['All'],
      records: [{ name: `www.${domain}`, type: 'A', content: '10.0.0.1' }],
    },
    { previousNames },
  );

async function apply({ engine, call }: Office, documents: readonly Document[], source = 'a'): Promise<Snapshot> {
  const result = await applyDocuments(engine, call, applyRequest(source, documents));
  if (result.state !== 'applied') throw new Error(JSON.stringify(result, undefined, 2));
  return result.after;
}

/**
 * Checks that all servers see the same objects: this server, a server that catches up from the history, and a server
 * that loads the account.
 */
async function seen(office: Office, other: Snapshots): Promise<void> {
  const { engine, account, database } = office;
  const current = await engine.snapshots.current(account);
  const stored = await loadSnapshot(database, engine.registry, account);
  if (stored === undefined) throw new Error('the account is gone');
  expect(objectsOf(stored)).toEqual(objectsOf(current));
  expect(objectsOf(await other.atLeast(account, current.revision))).toEqual(objectsOf(current));
}

eachEngine('renames of documents on %s', (name) => {
  it('E82, E85 keep ids, update references in one statement, and are seen alike by every server', async () => {
    await using office = await newOffice(name);
    const other = name === 'postgres' ? (await office.another()).snapshots : office.engine.snapshots;
    await other.current(office.account);
    const policies = Array.from({ length: 50 }, (_, at) => allow(`p${at}`, ['devs'], ['ops']));
    const first = await apply(office, [
      group('devs', 'Developers'),
      group('ops', 'Operators'),
      ...policies,
      zone('lan', []),
      zone('lab', []),
    ]);
    const idOf = (state: Snapshot, kind: string, key: string) => objectOf(state, kind, key).id;
    // Swaps the keys of two groups, and of two zones with their records. The policies refer to the same groups by their
    // new keys.
    const second = await apply(office, [
      group('devs', 'Operators', 'ops'),
      group('ops', 'Developers', 'devs'),
      ...policies.map((policy) => ({ ...policy, spec: named(policy, 'ops', 'devs') })),
      zone('lan', ['lab'], 'lab.example.com'),
      zone('lab', ['lan'], 'lan.example.com'),
    ]);
    expect(idOf(second, 'Group', 'ops')).toBe(idOf(first, 'Group', 'devs'));
    expect(idOf(second, 'DNSZone', 'lab')).toBe(idOf(first, 'DNSZone', 'lan'));
    expect(idOf(second, 'DNSRecord', 'lab/www.lan.example.com/A/10.0.0.1')).toBe(
      idOf(first, 'DNSRecord', 'lan/www.lan.example.com/A/10.0.0.1'),
    );
    const [row] = await rowsOf(office.database, 'select summary from revisions order by revision desc limit 1');
    // Two groups and two zones are updated. The policies keep the ids of their groups, and the records only follow
    // their zones.
    expect(row?.['summary']).toEqual({ create: 0, update: 4, delete: 0, claims: 2 });
    await seen(office, other);
    const renamed = policies.map((policy) => ({ ...policy, spec: named(policy, 'developers', 'operators') }));
    const third = await apply(office, [
      group('operators', 'Operators', 'devs'),
      group('developers', 'Developers', 'ops'),
      ...renamed,
      zone('lan', ['lab'], 'lab.example.com'),
      zone('lab', ['lan'], 'lan.example.com'),
    ]);
    expect(objectOf(third, 'Group', 'developers')).toMatchObject({
      id: idOf(first, 'Group', 'devs'),
      aliases: ['devs', 'ops'],
    });
    await seen(office, other);
  });
});

/** Returns the spec of the policy when the groups have these keys. */
function named({ spec }: Document, developers: string, operators: string): Document['spec'] {
  return JSON.parse(
    JSON.stringify(spec).replace(/"(devs|ops)"/g, (_, word) =>
      JSON.stringify(word === 'devs' ? developers : operators),
    ),
  );
}
