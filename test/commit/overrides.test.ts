import { expect, it } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { revokeLease, takeLease } from '../../src/db/leases/leases.ts';
import { runLapseLoop } from '../../src/features/config/overrides/lapses.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { NotAllowed } from '../../src/model/errors.ts';
import { createObject, replaceObject } from '../../src/objects/objects.ts';
import { endOverrides } from '../../src/objects/overrides.ts';
import { objectsOf } from '../plan/invariants.ts';
import { document, objectOf } from '../plan/steps.ts';
import { eachEngine } from '../setup/database.ts';
import { applyRequest, newOffice, type Office, policyBody, rowsOf } from './office.ts';

const rule = {
  name: 'r',
  action: 'accept',
  protocol: 'all',
  bidirectional: true,
  sources: ['All'],
  destinations: ['All'],
};
const documents = [document('Policy', 'p', { enabled: false, rules: [rule] }, { file: 'p.yaml', line: 3 })];
const hour = 60 * 60 * 1000;
const glass = { strict: false, breakGlass: { reason: 'incident', seconds: 3600 } };

/** Returns the engine with its clock and the database clock moved forward, in milliseconds. */
function later(engine: Engine, ms: number): Engine {
  const now = () => new Date(Date.now() + ms).toISOString();
  return { ...engine, now, databaseTime: async () => now() };
}

async function stored({ database, engine, account }: Office) {
  const state = await loadSnapshot(database, engine.registry, account);
  if (state === undefined) throw new Error('the account is gone');
  return state;
}

/** Applies a document that disables the policy, and enables the policy by an override for an hour. */
async function override(office: Office, more: JsonObject = {}): Promise<void> {
  const { engine, call } = office;
  await applyDocuments(engine, call, applyRequest('a', documents));
  const state = await engine.snapshots.current(office.account);
  const all = state.lookUp('Group', 'name', 'All')[0]?.id ?? '';
  const { id } = objectOf(state, 'Policy', 'p');
  await replaceObject(
    engine,
    call,
    engine.registry.get('Policy'),
    id,
    policyBody('p', all, { enabled: true, ...more }),
    glass,
  );
}

const entries = (office: Office) =>
  rowsOf(office.database, `select value, subject_id from directory where kind = 'override'`);
const events = (office: Office) =>
  rowsOf(
    office.database,
    `select activity_code as code, target_id as target, meta from audit_events where activity_code like 'config.override.%' order by id`,
  );

eachEngine('an override on %s', (name) => {
  it('E57 is stored with its object and in the directory, and ends with one revision', async () => {
    await using office = await newOffice(name);
    await override(office);
    const held = objectOf(await stored(office), 'Policy', 'p');
    expect(held).toMatchObject({
      spec: { enabled: true },
      overrides: [{ path: 'enabled', by: { id: 'u1', name: 'Ana' }, reason: 'incident' }],
    });
    expect(await entries(office)).toEqual([{ value: `${office.account}/${held.id}`, subject_id: held.id }]);
    expect(await endOverrides(office.engine, office.account)).toBeUndefined();
    const { revision } = await office.engine.snapshots.current(office.account);
    await endOverrides(later(office.engine, hour), office.account);
    const state = await stored(office);
    expect(objectsOf(state)).toEqual(objectsOf(await office.engine.snapshots.current(office.account)));
    expect([state.revision, objectOf(state, 'Policy', 'p').spec['enabled'], await entries(office)]).toEqual([
      revision + 1,
      false,
      [],
    ]);
    const meta = { name: 'p', kind: 'Policy', path: 'enabled', reason: 'incident', by: 'Ana' };
    expect(await events(office)).toEqual([
      { code: 'config.override.created', target: held.id, meta: { ...meta, until: held.overrides?.[0]?.until } },
      { code: 'config.override.expired', target: held.id, meta: { ...meta, until: held.overrides?.[0]?.until } },
    ]);
  });
});

it('an override is deleted from the directory together with its object', async () => {
  await using office = await newOffice('postgres');
  await override(office);
  await applyDocuments(office.engine, office.call, applyRequest('a', [], { allowEmpty: true }));
  expect(await entries(office)).toEqual([]);
});

it('E56 an override is respected by an apply on another server, and ended by its lapse loop', async () => {
  await using office = await newOffice('postgres');
  await override(office);
  const other = await office.another();
  const applied = await applyDocuments(other, office.call, applyRequest('a', documents));
  expect(applied).toMatchObject({
    state: 'applied',
    plan: { changes: [], warnings: [{ code: 'unit_overridden', key: 'p' }] },
  });
  const reported: string[] = [];
  const stop = runLapseLoop({ engine: later(other, hour), everyMs: 5, report: (_, message) => reported.push(message) });
  await expect.poll(async () => objectOf(await stored(office), 'Policy', 'p').spec['enabled']).toBe(false);
  await stop();
  expect([reported, await entries(office)]).toEqual([[], []]);
});

it('E137 an override lasts by the database clock, whatever the clock of a server shows', async () => {
  await using office = await newOffice('postgres');
  const wrong = { ...(await office.another()), now: () => new Date(Date.now() + 2 * hour).toISOString() };
  await override({ ...office, engine: wrong });
  const [held] = objectOf(await stored(office), 'Policy', 'p').overrides ?? [];
  expect(Date.parse(held?.until ?? '')).toBeLessThan(Date.now() + 1.5 * hour);
  expect(await endOverrides(wrong, office.account)).toBeUndefined();
  const applied = await applyDocuments(wrong, office.call, applyRequest('a', documents));
  expect(applied).toMatchObject({ state: 'applied', plan: { changes: [], warnings: [{ code: 'unit_overridden' }] } });
  const slow = { ...office.engine, now: () => new Date(Date.now() - 2 * hour).toISOString() };
  await rowsOf(
    office.database,
    `update objects set overrides = jsonb_set(overrides, '{0,until}', to_jsonb('2026-01-01T00:00:00.000Z'::text)) where key = 'p'`,
  );
  const fresh = await office.another();
  expect(await endOverrides({ ...fresh, now: slow.now }, office.account)).toMatchObject({ counts: { update: 1 } });
});

it('an override is not ended by a server that lost the lease', async () => {
  await using office = await newOffice('postgres');
  await override(office);
  const { engine, account } = office;
  const at = later(engine, hour);
  const lease = await takeLease(engine.database, { account, name: 'lapses', owner: 'gone', seconds: 60 });
  if (lease === undefined) throw new Error('nobody else has the lease');
  await revokeLease(engine.database, account, 'lapses');
  await expect(endOverrides(at, account, lease)).rejects.toThrow('is no longer held');
  expect(objectOf(await stored(office), 'Policy', 'p').spec['enabled']).toBe(true);
});

it('an override is not ended by a loop that loses its lease before it writes', async () => {
  await using office = await newOffice('postgres');
  await override(office);
  const { engine, account } = office;
  let looks = 0;
  const databaseTime: Engine['databaseTime'] = async () => {
    await revokeLease(engine.database, account, 'lapses');
    looks += 1;
    return new Date(Date.now() + hour).toISOString();
  };
  const reported: string[] = [];
  const loop = {
    engine: { ...engine, databaseTime },
    everyMs: 5,
    report: (_: string, message: string) => reported.push(message),
  };
  const stop = runLapseLoop(loop);
  await expect.poll(() => looks).toBeGreaterThan(2);
  await stop();
  expect([objectOf(await stored(office), 'Policy', 'p').spec['enabled'], reported]).toEqual([true, []]);
});

it('E57 an override is ended only once when an apply and the lapse loop run at the same time', async () => {
  await using office = await newOffice('postgres');
  await override(office);
  const at = later(office.engine, hour);
  const [plan, applied] = await Promise.all([
    endOverrides(at, office.account),
    applyDocuments(at, office.call, applyRequest('a', documents)),
  ]);
  expect(applied.state).toBe('applied');
  // No plan at all: the apply had ended the override before the lapse loop looked for it.
  expect([plan?.counts.update ?? 0, applied.state === 'applied' ? applied.plan.counts.update : 0].sort()).toEqual([
    0, 1,
  ]);
  expect(await events(office)).toHaveLength(2);
});

it('E55 an override is refused to callers who may not change the configuration', async () => {
  await using office = await newOffice('postgres');
  const { engine, call, account } = office;
  await applyDocuments(engine, call, applyRequest('a', documents));
  const body = { name: 'helper', role: 'network_admin', is_service_user: true, auto_groups: [] };
  const helper = await createObject(engine, call, engine.registry.get('User'), body, { strict: false });
  const state = await engine.snapshots.current(account);
  const { id } = objectOf(state, 'Policy', 'p');
  const policy = engine.registry.get('Policy');
  const all = objectOf(state, 'Group', 'All').id;
  for (const actor of [
    { type: 'user', id: helper.object.id, name: 'helper' },
    { type: 'source', id: 'b', name: 'b' },
  ] as const) {
    const enabled = replaceObject(
      engine,
      { ...call, actor },
      policy,
      id,
      policyBody('p', all, { enabled: true }),
      glass,
    );
    await expect(enabled).rejects.toThrow(NotAllowed);
  }
});
