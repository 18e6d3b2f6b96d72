import { describe, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { endLapsedClaims, runLapseLoop } from '../../src/features/config/overrides/lapses.ts';
import type { ApplyRequest } from '../../src/features/config/plans/apply-request.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { countTransactions } from '../bench/counting.ts';
import { document, objectOf } from '../plan/steps.ts';
import { applyRequest, newOffice, type Office, rowsOf } from './office.ts';

const rules = [{ name: 'r', action: 'accept', protocol: 'all', sources: ['All'], destinations: ['All'] }];
const policy = (file: string, description: string) =>
  document('Policy', 'p', { rules, description }, { file, line: 7 });

/** Pushes a policy with a description as a source. Returns the state of the result. */
async function push(
  { call, ...office }: Pick<Office, 'engine' | 'call'>,
  source: string,
  text: string,
  more: Partial<ApplyRequest> = {},
) {
  const { state } = await applyDocuments(
    office.engine,
    call,
    applyRequest(source, [policy(`${source}.yaml`, text)], more),
  );
  return state;
}

const claimRows = ({ database }: Office) =>
  rowsOf(database, `select id, wanted from sources where wanted <> '{}' order by id`);
const untilOf = async ({ database }: Office) =>
  (
    await rowsOf(
      database,
      `select claim_until - clock_timestamp() between '59 minutes' and '1 hour' as is_hour, claim_warned from sources where id = 'b'`,
    )
  )[0];
const makeDue = ({ database }: Office, when: string) =>
  rowsOf(database, `update sources set claim_until = clock_timestamp() ${when} where id = 'b'`);
const events = ({ database }: Office) =>
  rowsOf(
    database,
    `select activity_code as code, target_id as target from audit_events where activity_code like 'config.claim.%' order by id`,
  );

/** Creates an office in which `a` has described the policy, and `b`, which describes it otherwise, was refused. */
async function contradiction(): Promise<Office> {
  const office = await newOffice('postgres');
  expect([await push(office, 'a', 'ours'), await push(office, 'b', 'theirs')]).toEqual(['applied', 'invalid']);
  return office;
}

/** Returns an engine that runs `work` once: between the first plan and its commit, or after the first commit. */
function interrupted(engine: Engine, when: 'before' | 'after', work: () => Promise<unknown>): Engine {
  let isOver = false;
  const once = async () => {
    if (isOver) return;
    isOver = true;
    await work();
  };
  const mutate: Engine['committer']['mutate'] = async (mutation) => {
    const committed = await engine.committer.mutate({
      ...mutation,
      propose: async (state, database) => {
        const outcome = await mutation.propose(state, database);
        if (when === 'before') await once();
        return outcome;
      },
    });
    if (when === 'after') await once();
    return committed;
  };
  return { ...engine, committer: { ...engine.committer, mutate } };
}

/** Creates an engine that counts its database transactions. */
function counting({ database }: Office) {
  const counted = countTransactions(database);
  return { engine: createEngine({ database: counted.database }), asked: () => counted.transactions() };
}

describe('an apply without foreign claims and without overrides', () => {
  it('needs no database transaction besides its commit', async () => {
    await using office = await newOffice('postgres');
    const { engine, asked } = counting(office);
    await engine.snapshots.current(office.account);
    const before = asked();
    expect(await push({ ...office, engine }, 'a', 'ours')).toBe('applied');
    expect(await push({ ...office, engine }, 'a', 'ours, again')).toBe('applied');
    expect(asked() - before).toBe(2);
  });

  it('is refused when another server has stored a claim meanwhile', async () => {
    await using office = await newOffice('postgres');
    const { engine } = counting(office);
    expect(await push({ ...office, engine }, 'a', 'ours')).toBe('applied');
    const [seen] = [await engine.snapshots.current(office.account), await push(office, 'b', 'theirs')];
    expect(seen.noClaimsSequence).toBeTypeOf('number');
    expect(await push({ ...office, engine }, 'a', 'a third')).toBe('invalid');
  });

  it('is planned with the latest claims when it writes nothing', async () => {
    await using office = await newOffice('postgres');
    const { engine } = counting(office);
    expect(await push({ ...office, engine }, 'a', 'ours')).toBe('applied');
    const leave = () => applyDocuments(engine, office.call, applyRequest('a', []));
    // No other source claims the policy, so it would be deleted.
    expect(await leave()).toMatchObject({ state: 'needs_approval', plan: { counts: { delete: 1 } } });
    expect(await push(office, 'b', 'theirs')).toBe('invalid');
    // Now source `b` claims the policy, so it is left to `b`.
    expect(await leave()).toMatchObject({ state: 'needs_approval', plan: { counts: { delete: 0, claims: 1 } } });
  });
});

describe('the claims of refused pushes', () => {
  it('expire by the database clock, with a warning and an event each, and block no other source afterwards', async () => {
    await using office = await contradiction();
    const { engine, account } = office;
    expect(await untilOf(office)).toEqual({ is_hour: true, claim_warned: false });
    expect(await push(office, 'a', 'a third')).toBe('invalid');
    expect(await endLapsedClaims(engine, account)).toEqual([]);
    await makeDue(office, "+ interval '5 minutes'");
    expect(await endLapsedClaims(engine, account)).toMatchObject([{ source: 'b', isOver: false }]);
    expect(await endLapsedClaims(engine, account)).toEqual([]);
    expect(await push(office, 'a', 'a third')).toBe('invalid');
    await makeDue(office, '');
    // An expired claim blocks no source, even before it is removed.
    expect(await push(office, 'a', 'ours, again')).toBe('applied');
    expect(await endLapsedClaims(engine, account)).toMatchObject([{ source: 'b', isOver: true }]);
    expect([await claimRows(office), await events(office)]).toEqual([
      [],
      [
        { code: 'config.claim.expiring', target: 'b' },
        { code: 'config.claim.expired', target: 'b' },
      ],
    ]);
    expect(await rowsOf(office.database, "select from directory where kind = 'claim'")).toEqual([]);
  });

  it('are renewed when the same documents are pushed again', async () => {
    await using office = await contradiction();
    await makeDue(office, "+ interval '5 minutes'");
    await endLapsedClaims(office.engine, office.account);
    expect(await push(office, 'b', 'theirs')).toBe('invalid');
    expect(await untilOf(office)).toEqual({ is_hour: true, claim_warned: false });
  });

  it('are deleted after expiry by the lapse loop of a server', async () => {
    await using office = await contradiction();
    await makeDue(office, '');
    const reported: string[] = [];
    const stop = runLapseLoop({ engine: office.engine, everyMs: 5, report: (_, message) => reported.push(message) });
    await expect.poll(() => claimRows(office)).toEqual([]);
    await expect
      .poll(() => reported)
      .toEqual([expect.stringContaining('source b: the claims of its rejected push lapsed at ')]);
    await stop();
  });

  it('do not expire for a source that a server runs', async () => {
    await using office = await newOffice('postgres');
    await push(office, 'a', 'ours');
    const lease = { account: office.account, name: 'source/b', owner: 's', fence: 1 };
    expect(await push(office, 'b', 'theirs', { lease })).toBe('invalid');
    expect(await rowsOf(office.database, 'select id from sources where claim_until is not null')).toEqual([]);
  });

  it('that arrive while a plan is made are respected: it is planned again before the commit', async () => {
    await using office = await newOffice('postgres');
    await push(office, 'a', 'ours');
    const other = await office.another();
    const late = interrupted(office.engine, 'before', () => push({ ...office, engine: other }, 'b', 'theirs'));
    expect(await push({ ...office, engine: late }, 'a', 'a third')).toBe('invalid');
    const state = await office.engine.snapshots.fresh(office.account);
    expect(objectOf(state, 'Policy', 'p').spec['description']).toBe('ours');
  });

  it('are deleted by a commit of the source, and not stored by an older refused push of it', async () => {
    await using office = await newOffice('postgres');
    await push(office, 'a', 'ours');
    const agree = () => applyDocuments(office.engine, office.call, applyRequest('b', [document('Group', 'g')]));
    const late = interrupted(office.engine, 'after', agree);
    expect(await push({ ...office, engine: late }, 'b', 'theirs')).toBe('invalid');
    expect(await claimRows(office)).toEqual([]);
    expect(await push(office, 'a', 'a third')).toBe('applied');
  });
});
