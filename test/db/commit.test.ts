import { describe, expect, it } from 'vitest';
import { commit, compileCommit } from '../../src/db/commit/commit.ts';
import { listRevisions, readCommitOutcome, readRevision } from '../../src/db/commit/revisions.ts';
import { openDatabase } from '../../src/db/database.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { allow, createOn, deleteOn, document, now, objectOf, planned, planOn, replaceOn } from '../plan/steps.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';
import { actor, newOffice, noted, readTables, revisionOf, write } from './accounts.ts';
import { commitMany, commitSequences, expectStored } from './commits.ts';

const zone = (records: readonly string[]) =>
  document('DNSZone', 'lan', {
    domain: 'lan.example.com',
    distribution_groups: ['All'],
    records: records.map((content) => ({ name: 'www.lan.example.com', type: 'A', content })),
  });

eachEngine('a commit on %s', (engine) => {
  it('is read back as planned: members, declarations, entry ids, children, claims', async () => {
    await using made = await testDatabase(engine);
    const { database } = made;
    const first = await newOffice(database);
    const states = [first];
    const take = async (plan: (state: Snapshot) => Parameters<typeof write>[2]) => {
      const state = states.at(-1) ?? first;
      states.push(await write(database, state, plan(state)));
      await expectStored(database, states.at(-1) ?? first, [states[0] ?? first, state]);
    };
    const devs = (...peers: readonly string[]) => document('Group', 'devs', { peers });
    await take((state) =>
      planOn(state, 'a', [devs('p1', 'p2'), allow('p', ['devs'], ['All']), zone(['10.0.0.1', '10.0.0.2'])]),
    );
    await take((state) => createOn(state, 'Group', { name: 'by hand', peers: ['p1'] }));
    await take((state) =>
      replaceOn(state, 'Group', objectOf(state, 'Group', 'devs').id, { peers: ['p1', 'p2', 'p3'] }),
    );
    await take((state) =>
      planOn(state, 'b', [devs('p3'), document('Group', 'mine', { name: 'by hand', peers: ['p1'] })]),
    );
    await take((state) =>
      planOn(state, 'a', [devs('p2'), allow('p', ['devs'], ['devs']), zone(['10.0.0.9', '10.0.0.2'])]),
    );
    await take((state) => planOn(state, 'b', [devs('p3')]));
    await take((state) => planOn(state, 'a', [zone([])]));
  });

  it('E158 equals the replayed history, for a few sequences', async () => {
    expect(await commitSequences(engine, 2)).toBeGreaterThan(3);
  });

  it('is one statement for 100 and for 300 objects', async () => {
    await commitMany(engine, 300);
  });

  it('with tokens locks the account when an earlier attempt may be running, and with leases always', async () => {
    await using made = await testDatabase(engine);
    const base = await newOffice(made.database);
    const outcome = planOn(base, 'a', [document('Group', 'one')]);
    if (!outcome.ok) throw new Error('the plan is refused');
    const revision = revisionOf(outcome, base);
    const isFenced = (more: Partial<typeof revision>, contender?: string) => {
      const input = { base, next: outcome.next, revisions: [{ ...revision, ...more }] };
      return runToEnd(compileCommit(input, contender)).isFenced;
    };
    const token = { id: 't', hash: 'h' };
    const lease = { account: base.account, name: 'source/a', owner: 'one', fence: 1 };
    expect([isFenced({}), isFenced({ token }), isFenced({ lease })]).toEqual([false, true, true]);
    expect([isFenced({}, 'me'), isFenced({ token }, 'me'), isFenced({ lease }, 'me')]).toEqual([false, false, true]);
  });

  it('writes nothing in any table when the account has a newer revision', async () => {
    await using made = await testDatabase(engine);
    const base = await newOffice(made.database);
    const one = planOn(base, 'a', [document('Group', 'one'), zone(['10.0.0.1'])]);
    const other = planOn(base, 'b', [document('Group', 'other', { peers: ['p1'] })]);
    await write(made.database, base, one);
    const before = await readTables(made.database);
    const { next } = planned(other);
    const late = compileCommit({ base, next, revisions: [revisionOf(other, base)] });
    expect(await commit(made.database, runToEnd(late))).toBe('moved');
    expect(await readTables(made.database)).toEqual(before);
  });

  it('writes nothing in any table when SQL refuses a part of it', async () => {
    await using made = await testDatabase(engine);
    const base = await newOffice(made.database);
    await made.database.asOwner(["alter table objects add constraint no_bad_names check (name <> 'bad')"]);
    const before = await readTables(made.database);
    const outcome = planOn(base, 'a', [document('Group', 'good'), document('Group', 'bad')]);
    await expect(write(made.database, base, outcome)).rejects.toMatchObject({ code: '23514' });
    expect(await readTables(made.database)).toEqual(before);
  });

  it('swaps unique values between objects, and assigns the value of a deleted object to a new one', async () => {
    await using made = await testDatabase(engine);
    const base = await newOffice(made.database);
    const named = (one: string, two: string) => [
      document('Group', 'one', { name: one }),
      document('Group', 'two', { name: two }),
    ];
    const first = await write(made.database, base, planOn(base, 'a', named('x', 'y')));
    const swapped = await write(made.database, first, planOn(first, 'a', named('y', 'x')));
    expect([objectOf(swapped, 'Group', 'one').name, objectOf(swapped, 'Group', 'two').name]).toEqual(['y', 'x']);
    const again = await write(
      made.database,
      swapped,
      planOn(swapped, 'a', [document('Group', 'three', { name: 'x' }), document('Group', 'one', { name: 'y' })]),
    );
    await expectStored(made.database, again, [base, first, swapped]);
  });

  it('of several revisions is one statement, also when objects change twice or are created and deleted', async () => {
    await using made = await testDatabase(engine);
    const base = await newOffice(made.database);
    const outcomes = [planOn(base, 'a', [document('Group', 'devs', { peers: ['p1'] }), document('Group', 'ops')])];
    const states = [base];
    const then = (plan: (state: Snapshot) => (typeof outcomes)[number]) => {
      const state = planned(outcomes.at(-1) ?? plan(base)).next;
      states.push(state);
      outcomes.push(plan(state));
    };
    then((state) => createOn(state, 'Group', { name: 'short-lived', peers: ['p2'] }));
    then((state) => planOn(state, 'a', [document('Group', 'devs', { peers: ['p2'] }), document('Group', 'ops')]));
    then((state) => deleteOn(state, objectOf(state, 'Group', 'short-lived').id));
    const revisions = outcomes.map((outcome, at) => revisionOf(outcome, states[at] ?? base));
    const { next } = planned(outcomes.at(-1) ?? planOn(base, 'a', []));
    const { database, statements } = noted(made.database);
    expect(await commit(database, runToEnd(compileCommit({ base, next, revisions })))).toBe('written');
    expect(statements).toHaveLength(1);
    await expectStored(made.database, next, states);
    const listed = await listRevisions(made.database, base.account, { limit: 10 });
    expect(listed.map(({ revision }) => revision)).toEqual([5, 4, 3, 2, 1]);
  });

  it('has an outcome of written, never or open, read by its request id and the account revision', async () => {
    await using made = await testDatabase(engine);
    const base = await newOffice(made.database);
    await write(made.database, base, planOn(base, 'a', [document('Group', 'devs')]));
    const mark = { account: base.account, base: base.revision, requestId: 'request-2', at: now };
    expect(await readCommitOutcome(made.database, mark)).toBe('written');
    expect(await readCommitOutcome(made.database, { ...mark, requestId: 'request-3' })).toBe('never');
    // With another time, the mark belongs to another process that committed the same request: the plan of this process
    // was not written.
    expect(await readCommitOutcome(made.database, { ...mark, at: '2020-01-01T00:00:00.000Z' })).toBe('never');
    expect(await readCommitOutcome(made.database, { ...mark, base: base.revision + 1, requestId: 'request-3' })).toBe(
      'open',
    );
    expect(await readCommitOutcome(made.database, { ...mark, account: 'nobody' })).toBe('gone');
  });

  it('may have been written when the server is behind the revision on which it was planned', async () => {
    await using made = await testDatabase(engine);
    const { account, revision } = await newOffice(made.database);
    const mark = { account, base: revision + 5, requestId: 'request-2', at: now };
    expect(await readCommitOutcome(made.database, mark)).toBe('open');
  });

  it('records who did what: revision, changes with their units, consecutive audit events', async () => {
    await using made = await testDatabase(engine);
    const base = await newOffice(made.database);
    const first = await write(
      made.database,
      base,
      planOn(base, 'a', [document('Group', 'devs', { peers: ['p1'] }), document('Group', 'ops')]),
    );
    await write(
      made.database,
      first,
      planOn(first, 'a', [document('Group', 'devs', { peers: ['p2'] }), document('Group', 'ops')]),
    );
    const revision = await readRevision(made.database, base.account, 3);
    expect(revision).toMatchObject({
      revision: 3,
      actor,
      source_id: 'a',
      summary: { create: 0, update: 1, delete: 0, claims: 0 },
    });
    expect(revision?.changes).toMatchObject([
      {
        seq: 0,
        action: 'update',
        kind: 'Group',
        key: 'devs',
        units: [
          { path: 'peers[p1]', before: ['source'] },
          { path: 'peers[p2]', after: ['source'] },
        ],
      },
    ]);
    const { audit_events: rows } = await readTables(made.database);
    const events = (rows ?? [])
      .map((row) => (row as { row: { id: number; revision: number; activity_code: string } }).row)
      .sort((a, b) => a.id - b.id);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at + 1));
    expect(
      events.filter((event) => event.revision > 1).map((event) => `${event.revision} ${event.activity_code}`),
    ).toEqual(['2 group.add', '2 peer.group.add', '2 group.add', '3 peer.group.add', '3 peer.group.delete']);
  });
});

describe('a commit with a lost response', () => {
  it('may have been written when a standby does not contain its account', async () => {
    await using made = await testDatabase('postgres');
    const mark = { account: 'nobody', base: 1, requestId: 'request-2', at: now };
    // In this search path, Postgres finds the function below before its own one.
    const url = new URL(made.url ?? '');
    url.searchParams.set('options', '-c search_path=public,pg_catalog');
    await made.database.asOwner([
      'create function public.pg_is_in_recovery() returns boolean language sql as $$ select true $$',
    ]);
    const standby = await openDatabase({ url: url.href });
    expect(await readCommitOutcome(standby, mark)).toBe('open');
    await standby.close();
    await made.database.asOwner(['drop function public.pg_is_in_recovery()']);
    expect(await readCommitOutcome(made.database, mark)).toBe('gone');
  });
});
