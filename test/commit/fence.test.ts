import { describe, expect, it } from 'vitest';
import { LeaseLost, TokenLookUpRequired } from '../../src/commit/batch.ts';
import type { CachedToken } from '../../src/commit/engine.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { type Lease, takeLease } from '../../src/db/leases/leases.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { NotAllowed } from '../../src/model/errors.ts';
import { createObject } from '../../src/objects/objects.ts';
import { document } from '../plan/steps.ts';
import { eachEngine } from '../setup/database.ts';
import { applyRequest, newOffice, type Office, revisionsOf, rowsOf, upTo } from './office.ts';

const lenient = { strict: false };

async function leaseOf({ database, account }: Office, owner: string): Promise<Lease> {
  const lease = await takeLease(database, { account, name: 'source/a', owner, seconds: 30 });
  if (lease === undefined) throw new Error(`${owner} did not get the lease`);
  return lease;
}

const runOut = ({ database }: Office) =>
  rowsOf(database, "update leases set until = now() - interval '1 second' returning name");

const groupNames = async ({ engine, account }: Office) =>
  (await engine.snapshots.fresh(account)).ofKind('Group').flatMap(({ key }) => key ?? []);

eachEngine('E98: a worker on %s', (name) => {
  it('writes while it holds its lease', async () => {
    await using office = await newOffice(name);
    const lease = await leaseOf(office, 'one');
    const applied = await applyDocuments(
      office.engine,
      office.call,
      applyRequest('a', [document('Group', 'devs')], { lease }),
    );
    expect(applied).toMatchObject({ state: 'applied', revision: 3 });
  });

  it('is refused and changes nothing after its lease has expired, even if nobody else took it', async () => {
    await using office = await newOffice(name);
    const lease = await leaseOf(office, 'one');
    await runOut(office);
    const late = () =>
      applyDocuments(office.engine, office.call, applyRequest('a', [document('Group', 'late')], { lease }));
    await expect(late()).rejects.toThrow(LeaseLost);
    const next = await leaseOf(office, 'two');
    await expect(late()).rejects.toThrow('the lease source/a is no longer held');
    const applied = await applyDocuments(
      office.engine,
      office.call,
      applyRequest('a', [document('Group', 'early')], { lease: next }),
    );
    expect(applied.state).toBe('applied');
    expect(await groupNames(office)).toEqual(['early']);
    expect(await revisionsOf(office.database)).toEqual(upTo(3));
  });

  it('without its lease is refused alone: the rest of the batch is written, and lost races are planned again', async () => {
    await using office = await newOffice(name);
    const { engine, call } = office;
    const lease = await leaseOf(office, 'one');
    await runOut(office);
    const other = name === 'postgres' ? await office.another() : engine;
    const kind = engine.registry.get('Group');
    // The first write is committed alone. The other writes of this server form one batch, which loses the race against
    // the other server.
    const results = await Promise.allSettled([
      createObject(engine, call, kind, { name: 'g1' }, lenient),
      applyDocuments(engine, call, applyRequest('a', [document('Group', 'late')], { lease })),
      createObject(engine, call, kind, { name: 'g2' }, lenient),
      ...upTo(5).map((at) => createObject(other, call, kind, { name: `other ${at}` }, lenient)),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      ...Array<string>(6).fill('fulfilled'),
    ]);
    expect(results[1]).toMatchObject({ reason: expect.any(LeaseLost) });
    expect(await groupNames(office)).toEqual([]);
    expect(await revisionsOf(office.database)).toEqual(upTo(9));
    expect(office.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('without its lease is not refused when there is nothing to change', async () => {
    await using office = await newOffice(name);
    const lease = await leaseOf(office, 'one');
    await runOut(office);
    expect(await applyDocuments(office.engine, office.call, applyRequest('a', [], { lease }))).toMatchObject({
      state: 'applied',
    });
  });
});

describe('a mutation with a token that was not looked up', () => {
  const withToken = async ({ database, account, call }: Office, requireAllowed: CachedToken['requireAllowed']) => {
    const token = { id: 'token', hash: 'hash', user: call.actor.id, name: 't', createdBy: call.actor.id };
    await insertToken(database, {
      ...token,
      account,
      createdAt: '2026-01-01T00:00:00Z',
      expiresAt: '2126-01-01T00:00:00Z',
    });
    return { ...call, cachedToken: { id: token.id, hash: token.hash, requireAllowed, onLookUp: () => undefined } };
  };

  const allGroups = async ({ engine, account }: Office) =>
    (await engine.snapshots.fresh(account)).ofKind('Group').map(({ name }) => name);

  it('is written while the token exists', async () => {
    await using office = await newOffice('postgres');
    const call = await withToken(office, () => undefined);
    await createObject(office.engine, call, office.engine.registry.get('Group'), { name: 'devs' }, lenient);
    expect(await allGroups(office)).toContain('devs');
  });

  it('is checked again on the state on which it is planned', async () => {
    await using office = await newOffice('postgres');
    const { engine } = office;
    const group = engine.registry.get('Group');
    const seen: number[] = [];
    const call = await withToken(office, ({ revision }) => {
      seen.push(revision);
      if (revision > 2) throw new NotAllowed('not any more');
    });
    // The state of this server becomes outdated.
    await engine.snapshots.current(office.account);
    await createObject(await office.another(), office.call, group, { name: 'elsewhere' }, lenient);
    await expect(createObject(engine, call, group, { name: 'late' }, lenient)).rejects.toThrow(TokenLookUpRequired);
    expect(seen).toEqual([2, 3]);
    expect(await allGroups(office)).not.toContain('late');
  });

  it('is refused with another hash of the token, and in another account', async () => {
    await using office = await newOffice('postgres');
    const { engine } = office;
    const call = await withToken(office, () => undefined);
    const group = engine.registry.get('Group');
    const wrong = { ...call, cachedToken: { ...call.cachedToken, hash: 'other' } };
    await expect(createObject(engine, wrong, group, { name: 'devs' }, lenient)).rejects.toThrow(TokenLookUpRequired);
    await office.database.asOwner(["update tokens set account_id = 'elsewhere'"]);
    await expect(createObject(engine, call, group, { name: 'devs' }, lenient)).rejects.toThrow(TokenLookUpRequired);
    expect(await allGroups(office)).not.toContain('devs');
  });

  it('is refused beside a mutation with the same token and its right hash', async () => {
    await using office = await newOffice('postgres');
    const { engine } = office;
    const right = await withToken(office, () => undefined);
    const wrong = { ...right, cachedToken: { ...right.cachedToken, hash: 'other' } };
    const group = engine.registry.get('Group');
    const results = await Promise.allSettled([
      createObject(engine, wrong, group, { name: 'by the wrong hash' }, lenient),
      createObject(engine, right, group, { name: 'by the right hash' }, lenient),
    ]);
    expect(results).toMatchObject([
      { status: 'rejected', reason: expect.any(TokenLookUpRequired) },
      { status: 'fulfilled' },
    ]);
    expect(await allGroups(office)).not.toContain('by the wrong hash');
  });

  it('is refused in the same way when its account was deleted', async () => {
    await using office = await newOffice('postgres');
    const { engine, database, account } = office;
    const call = await withToken(office, () => undefined);
    await engine.snapshots.current(account);
    await database.asOwner([`delete from accounts where account_id = '${account}'`]);
    const group = engine.registry.get('Group');
    const writes = ['one', 'two'].map((name) => createObject(engine, call, group, { name }, lenient));
    expect(await Promise.allSettled(writes)).toMatchObject([
      { status: 'rejected', reason: expect.any(TokenLookUpRequired) },
      { status: 'rejected', reason: expect.any(TokenLookUpRequired) },
    ]);
    expect(office.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
