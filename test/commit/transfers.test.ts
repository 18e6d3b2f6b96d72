import { describe, expect, it } from 'vitest';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { recordClaimedKeys, recordSource } from '../../src/features/sources/sources.ts';
import type { Document } from '../../src/model/document.ts';
import { document, objectOf } from '../plan/steps.ts';
import { applyRequest, newOffice, type Office } from './office.ts';

const zone = (ttl: number): Document =>
  document('DNSZone', 'lan', {
    domain: 'lan.example.com',
    distribution_groups: ['All'],
    records: [{ name: 'www.lan.example.com', type: 'A', content: '10.0.0.1', ttl }],
  });
const others = [document('Group', 'stays')];

async function apply({ engine, call }: Office, source: string, documents: readonly Document[]) {
  return await applyDocuments(engine, call, applyRequest(source, documents));
}

async function zoneOf({ engine, account }: Office) {
  const state = await engine.snapshots.current(account);
  const { id, owner, declared } = objectOf(state, 'DNSZone', 'lan');
  const [record, ...more] = state.childrenOf(id, 'DNSRecord');
  expect(more).toEqual([]);
  return { id, owner, sources: declared.map(({ source }) => source), record: record?.id, recordOwner: record?.owner };
}

describe('E69 an object that moves from one source to another', () => {
  it('keeps its id when the new source was refused first', async () => {
    await using office = await newOffice('postgres');
    await apply(office, 'a', [zone(60), ...others]);
    const before = await zoneOf(office);
    expect((await apply(office, 'b', [zone(300)])).state).toBe('invalid');
    const left = await apply(office, 'a', others);
    expect(left).toMatchObject({ state: 'applied', plan: { counts: { delete: 0, update: 0 }, guards: [] } });
    const taken = await apply(office, 'b', [zone(300)]);
    expect(taken).toMatchObject({ state: 'applied', plan: { counts: { create: 0, update: 1, delete: 0 } } });
    expect(await zoneOf(office)).toEqual({ ...before, owner: 'b', recordOwner: 'b', sources: ['b'] });
  });

  it('keeps its id when the old source drops it first: the new source is refreshed before anything is deleted', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, account } = office;
    await apply(office, 'a', [zone(60), ...others]);
    await recordSource(engine, call, { id: 'b', type: 'push', spec: {} });
    const before = await zoneOf(office);
    const ask = async () => recordClaimedKeys(engine, account, 'b', [zone(300)]);
    engine.claimRefreshers.add({ isConcerned: () => true, refresh: ask });
    const left = await apply(office, 'a', others);
    expect(left).toMatchObject({ state: 'applied', plan: { counts: { delete: 0 } } });
    expect(await zoneOf(office)).toEqual({ ...before, owner: undefined, recordOwner: undefined, sources: [] });
    expect((await apply(office, 'b', [zone(300)])).state).toBe('applied');
    expect(await zoneOf(office)).toEqual({ ...before, owner: 'b', recordOwner: 'b', sources: ['b'] });
  });
});
