import { expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { replay } from '../../src/db/commit/history.ts';
import { loadSnapshot } from '../../src/db/commit/snapshots.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { createObject } from '../../src/objects/objects.ts';
import { noted } from '../db/accounts.ts';
import { objectsOf } from '../plan/invariants.ts';
import { allow, document, now } from '../plan/steps.ts';
import { eachEngine } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { applyRequest, newOffice, type Office, policyBody, putAll, rowsOf, upTo } from './office.ts';

eachEngine('created objects are stored on %s, with the history that leads to them,', (name) => {
  it('as a source declares them: with parents, members, exclusive members, and references', async () => {
    await using office = await newOffice(name);
    const documents = [
      document('Group', 'devs', { peers: ['p1', 'p2'] }),
      document('Group', 'only', { peers: ['p3'] }, { annotations: { 'heddle.dev/membership': 'exclusive' } }),
      allow('p', ['devs'], ['only']),
      document('DNSZone', 'zone', { domain: 'example.org', distribution_groups: ['devs'] }),
      document('DNSRecord', 'a', { zone: 'zone', name: 'a.example.org', type: 'A', content: '192.0.2.1', ttl: 300 }),
    ];
    const { call, engine } = office;
    const result = await applyDocuments(engine, call, applyRequest('a', documents));
    expect(result).toMatchObject({ state: 'applied' });
    expect(await storedStates(office)).toEqual(await currentStates(office));
    const withMembers = await rowsOf(
      office.database,
      "select name from objects where kind = 'Group' and spec ? 'peers'",
    );
    expect(withMembers).toEqual([]);
  });

  it('with all that a change can contain, such as former keys and overrides', async () => {
    await using office = await newOffice(name);
    const { call, engine } = office;
    const body = policyBody('first', await groupId(office));
    const { object } = await createObject(engine, call, engine.registry.get('Policy'), body, strict);
    const by = { id: 'u1', name: 'Ana' };
    const override = { path: 'enabled', by, reason: 'outage', since: now, until: '2100-01-01T00:00:00.000Z' };
    const declaration = { stated: {}, file: 'policies.yaml', line: 7 };
    const complete: typeof object = {
      ...{ ...object, id: engine.newId(), name: 'second', spec: { ...object.spec, name: 'second' } },
      ...{ key: 'second', owner: 'a', protected: true, aliases: ['former'], overrides: [override], createdAt: now },
      declared: [
        { source: 'a', ...declaration, exclusive: true },
        { source: 'b', ...declaration },
      ],
    };
    await edit(office, () => [{ after: complete }]);
    expect(objectsOf(await engine.snapshots.current(office.account))[complete.id]).toMatchObject({
      ...complete,
      ...{ createdRevision: 4, updatedRevision: 4 },
      updatedAt: expect.any(String),
    });
    expect(await storedStates(office)).toEqual(await currentStates(office));
  });

  it('as their last change in a batch leaves them', async () => {
    await using office = await newOffice(name);
    const { database, statements } = noted(office.database);
    const { call } = office;
    const engine = createEngine({ database });
    const kind = engine.registry.get('Policy');
    const first = policyBody('first', await groupId(office));
    const { object } = await createObject(engine, call, kind, first, strict);
    const withName = (policy: typeof object, to: string) => ({
      ...policy,
      name: to,
      spec: { ...policy.spec, name: to },
    });
    const other = { ...withName(object, 'other'), id: engine.newId(), createdRevision: 0 };
    await Promise.all([
      // An object that the batch creates and then changes.
      edit({ engine, call }, () => [{ after: other }]),
      edit({ engine, call }, (state) => [{ before: present(state.get(other.id)), after: withName(other, 'changed') }]),
      // An object that the batch deletes, creates, deletes, and creates again with the same id.
      ...['again', 'at last'].flatMap((to) => [
        edit({ engine, call }, (state) => [{ before: present(state.get(object.id)) }]),
        edit({ engine, call }, () => [{ after: { ...withName(object, to), createdAt: now } }]),
      ]),
      // An object that the batch creates twice.
      ...['new', 'newer'].flatMap((to, at) => [
        ...(at === 0 ? [] : [edit({ engine, call }, (state) => [{ before: present(state.get('twice')) }])]),
        edit({ engine, call }, () => [{ after: { ...withName(object, to), id: 'twice' } }]),
      ]),
    ]);
    expect(await storedStates(office)).toEqual(await currentStates({ ...office, engine }));
    expect(statements.filter((sql) => sql.includes('update accounts set revision'))).toHaveLength(2);
  });
});

it('E93 objects that two servers create at the same time are all stored once', async () => {
  await using office = await newOffice('postgres');
  const { account, call } = office;
  const servers = [office.engine, await office.another()];
  const group = await groupId(office);
  const written = await Promise.all(
    upTo(20).map((at) => {
      const engine = present(servers[at % 2]);
      return createObject(engine, call, engine.registry.get('Policy'), policyBody(`p${at}`, group), strict);
    }),
  );
  const engine = present(servers[1]);
  await engine.snapshots.atLeast(account, Math.max(...written.map(({ object }) => object.updatedRevision)));
  expect(await storedStates(office)).toEqual(await currentStates({ account, engine }));
  expect(await rowsOf(office.database, 'select max(revision)::int as last from revisions')).toEqual([{ last: 22 }]);
  // A refused commit writes nothing. If it wrote changes, their numbers would violate a constraint.
  expect(office.logged.filter(({ level }) => level === 'error')).toEqual([]);
});

const strict = { strict: false };

async function groupId({ engine, account }: Office): Promise<string> {
  return present((await engine.snapshots.current(account)).lookUp('Group', 'name', 'All')[0]).id;
}

type Edits = Parameters<typeof putAll>[2];

function edit({ engine, call }: Pick<Office, 'engine' | 'call'>, edits: (state: Snapshot) => Edits) {
  return engine.committer.mutate({ ...call, propose: (state) => putAll(engine, state, edits(state)) });
}

/** Returns the objects in memory, as the state and as the end of the history. */
async function currentStates({ engine, account }: Pick<Office, 'engine' | 'account'>) {
  const current = objectsOf(await engine.snapshots.current(account));
  return { state: current, history: current };
}

/** Returns the objects in the database, from their rows and from the rows of the history. */
async function storedStates({ engine, account, database }: Office) {
  const state = present(await loadSnapshot(database, engine.registry, account));
  const rows = await rowsOf(
    database,
    'select revision::int, action, object_id, units, image from changes order by revision, seq',
  );
  const history = replay(emptySnapshot(engine.registry, account), rows as never, state.revision);
  return { state: objectsOf(state), history: objectsOf(history) };
}
