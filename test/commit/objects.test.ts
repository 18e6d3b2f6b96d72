import { describe, expect, it } from 'vitest';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { Conflict, InvalidInput, NotFound } from '../../src/model/errors.ts';
import { completeSpec } from '../../src/model/state/members.ts';
import { createObject, deleteObject, listObjects, readObject, replaceObject } from '../../src/objects/objects.ts';
import { document, objectOf } from '../plan/steps.ts';
import { applyRequest, newOffice, type Office, policyBody, revisionsOf } from './office.ts';

const lenient = { strict: false };
const zoneBody = (domain: string, group: string) => ({
  name: domain,
  domain,
  enable_search_domain: false,
  distribution_groups: [group],
});
const record = (name: string) => ({ name, type: 'A', content: '10.0.0.1', ttl: 60 });

async function allOf({ engine, account }: Office): Promise<string> {
  return objectOf(await engine.snapshots.current(account), 'Group', 'All').id;
}

describe('an object', () => {
  it('has the revision of its last change as version, and `If-Match` accepts a list', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const kind = engine.registry.get('Group');
    const { object } = await createObject(engine, call, kind, { name: 'devs' }, lenient);
    await createObject(engine, call, kind, { name: 'others' }, lenient);
    expect([object.createdRevision, object.updatedRevision]).toEqual([3, 3]);
    const version = (...ifMatch: readonly string[]) => ({ strict: false, ifMatch });
    const replaced = await replaceObject(engine, call, kind, object.id, { name: 'two' }, version('9', '3'));
    expect([replaced.object.createdRevision, replaced.object.updatedRevision]).toEqual([3, 5]);
    await expect(replaceObject(engine, call, kind, object.id, { name: 'three' }, version('3'))).rejects.toMatchObject({
      name: 'Conflict',
      reason: 'precondition',
    });
    await expect(deleteObject(engine, call, kind, object.id, version('3'))).rejects.toBeInstanceOf(Conflict);
    await replaceObject(engine, call, kind, object.id, { name: 'four' }, version('*'));
    await deleteObject(engine, call, kind, object.id, version('6'));
    await expect(readObject(engine, call, kind, object.id)).rejects.toBeInstanceOf(NotFound);
  });

  it('is not found under another kind, another parent or another account', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const all = await allOf(office);
    const [zones, records, groups] = ['DNSZone', 'DNSRecord', 'Group'].map((name) => engine.registry.get(name));
    if (zones === undefined || records === undefined || groups === undefined) throw new Error('a kind is missing');
    const [lan, lab] = [
      await createObject(engine, call, zones, zoneBody('lan.example.com', all), lenient),
      await createObject(engine, call, zones, zoneBody('lab.example.com', all), lenient),
    ];
    const { object } = await createObject(engine, call, records, record('www.lan.example.com'), lenient, lan.object.id);
    expect((await readObject(engine, call, records, object.id, lan.object.id)).object).toEqual(object);
    const misses = [
      readObject(engine, call, records, object.id, lab.object.id),
      readObject(engine, call, groups, lan.object.id),
      deleteObject(engine, call, records, object.id, lenient, lab.object.id),
      createObject(engine, call, records, record('www.lan.example.com'), lenient, all),
      listObjects(engine, call, records, 'nowhere'),
      readObject(engine, { ...call, account: 'other' }, groups, all),
    ];
    const results = await Promise.allSettled(misses);
    expect(results.map((result) => (result.status === 'rejected' ? result.reason : result))).toEqual(
      misses.map(() => expect.any(NotFound)),
    );
    const listed = await listObjects(engine, call, records, lan.object.id);
    expect([...listed.objects()].map(({ id }) => id)).toEqual([object.id]);
    expect([...listed.objects(object.id)]).toEqual([]);
    await deleteObject(engine, call, zones, lan.object.id, lenient);
    expect((await engine.snapshots.current(office.account)).get(object.id)).toBeUndefined();
  });

  it('is refused with all problems at once, and nothing is written', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const body = policyBody('p', 'nowhere', { enabled: 'yes', descripton: 'typo' });
    const refusal = createObject(engine, call, engine.registry.get('Policy'), body, { strict: true });
    await expect(refusal).rejects.toBeInstanceOf(InvalidInput);
    await expect(refusal).rejects.toMatchObject({ problems: [{ path: '/descripton' }, { path: '/enabled' }] });
    expect(await revisionsOf(office.database)).toEqual([1, 2]);
  });

  it('E54, E58 owned by a source is refused changes to stated fields, with their file and line', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const applied = await applyDocuments(
      engine,
      call,
      applyRequest('a', [document('Group', 'devs', { peers: ['p1'] }, { file: 'g.yaml', line: 3 })]),
    );
    const id = applied.state === 'applied' ? objectOf(applied.after, 'Group', 'devs').id : '';
    const kind = engine.registry.get('Group');
    await expect(replaceObject(engine, call, kind, id, { name: 'devs', peers: [] }, lenient)).rejects.toMatchObject({
      reason: 'managed_field',
      message: expect.stringContaining('g.yaml:3'),
    });
    await expect(deleteObject(engine, call, kind, id, lenient)).rejects.toMatchObject({ reason: 'managed_field' });
    const { object } = await replaceObject(engine, call, kind, id, { name: 'devs', peers: ['p1', 'p2'] }, lenient);
    expect(completeSpec(object)['peers']).toEqual({ p1: ['source'], p2: ['api'] });
  });
});
