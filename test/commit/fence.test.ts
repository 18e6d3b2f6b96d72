import { expect, it } from 'vitest';
import { LeaseLost } from '../../src/commit/batch.ts';
import { type Lease, takeLease } from '../../src/db/leases/leases.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
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
