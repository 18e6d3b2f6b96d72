import { describe, expect, it } from 'vitest';
import { reportDrift } from '../../src/features/config/history/drift.ts';
import { applyDocuments, planApply } from '../../src/features/config/plans/documents.ts';
import { detachSource } from '../../src/features/sources/source-admin.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import { sourceStatuses } from '../../src/features/sources/status.ts';
import { isObject } from '../../src/lib/json.ts';
import { document, objectOf } from '../plan/steps.ts';
import { applyRequest, newOffice, type Office, rowsOf } from './office.ts';

const devs = (file: string, spec = {}) => document('Group', 'devs', spec, { file, line: 4 });

/** Creates an office in which a server runs the source `office`, which has created a group. */
async function served(): Promise<Office> {
  const office = await newOffice('postgres');
  const { engine, call } = office;
  await recordSource(engine, call, { id: 'office', type: 'directory', spec: { managedBy: 'server' } });
  expect((await applyDocuments(engine, call, applyRequest('office', [devs('groups.yaml')]))).state).toBe('applied');
  return office;
}

const ownerIn = async ({ engine, account }: Office) => {
  const { owner, declared } = objectOf(await engine.snapshots.fresh(account), 'Group', 'devs');
  return [owner, declared.map(({ source }) => source)];
};

describe('a source that a server runs', () => {
  const commit = '9a52c0de4f0b7e21c3d48a6f5e9b1c70d2e83f46';

  it('is reported as drifted while other content than its commit is applied', async () => {
    await using office = await served();
    const { engine, call, account, database } = office;
    const { revision } = await engine.snapshots.fresh(account);
    const status = JSON.stringify({
      state: 'applied',
      message: '',
      conditions: [],
      lastAppliedRevision: revision,
      lastAppliedCommit: commit,
    });
    await rowsOf(database, `update sources set status = '${status}' where id = 'office'`);
    const conditions = async () =>
      (await sourceStatuses(engine, { ...call, revision })).flatMap(({ status }) =>
        isObject(status) ? status['conditions'] : [],
      );
    expect([await conditions(), (await reportDrift(engine, call)).byHand]).toEqual([[], []]);
    const byHand = applyRequest('office', [devs('groups.yaml', { name: 'Developers' })], {
      isManualApply: true,
      override: 'incident',
    });
    expect((await applyDocuments(engine, call, byHand)).state).toBe('applied');
    expect(await conditions()).toMatchObject([
      {
        type: 'Drifted',
        status: 'True',
        reason: 'AppliedByHand',
        message: expect.stringContaining('by Ana after commit 9a52c0de4f0b'),
      },
    ]);
    expect((await reportDrift(engine, call, 'office')).byHand).toEqual([
      { source: 'office', revision: revision + 1, by: 'Ana', commit },
    ]);
  });

  it('is reconciled at once when a conflicting source is detached, and keeps the shared objects', async () => {
    await using office = await served();
    const { engine, call, database } = office;
    expect(
      (await applyDocuments(engine, call, applyRequest('cli', [devs('cli.yaml'), document('Group', 'own')]))).state,
    ).toBe('applied');
    await rowsOf(database, `update sources set status = '{"state": "conflicted"}' where id = 'office'`);
    expect(await detachSource(engine, call, 'cli')).toMatchObject({ released: 2, shared: 1, reconciled: ['office'] });
    const asked = await rowsOf(database, 'select id from sources where requested_at is not null');
    expect([asked, await ownerIn(office)]).toEqual([[{ id: 'office' }], ['office', ['office']]]);
  });

  it('that cannot be requested to reconcile does not block the detach of a conflicting source; the error is logged', async () => {
    await using office = await served();
    const { engine, call, database } = office;
    await applyDocuments(engine, call, applyRequest('cli', [devs('cli.yaml'), document('Group', 'own')]));
    await rowsOf(database, `update sources set status = '{"state": "conflicted"}' where id = 'office'`);
    await rowsOf(database, `create function lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$`);
    await rowsOf(database, 'create trigger lose before update of requested_at on sources execute function lose()');
    expect(await detachSource(engine, call, 'cli')).toMatchObject({ released: 2, revision: expect.any(Number) });
    expect(office.logged.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/source cli failed after the commit: .*lost/),
    );
  });
});

describe('documents of a source that a server runs', () => {
  it('are not taken over by a push: an apply is refused naming the source, a plan warns', async () => {
    await using office = await served();
    const { engine, call } = office;
    const push = applyRequest('cli', [devs('mine.yaml'), document('Group', 'own')], { isManualApply: true });
    expect(await applyDocuments(engine, call, push)).toMatchObject({
      state: 'invalid',
      problems: [
        {
          code: 'source_foreign',
          key: 'devs',
          line: 4,
          source: 'office',
          message: expect.stringContaining(' belongs to the source office, which a server runs at groups.yaml:4'),
        },
      ],
    });
    const { isManualApply: _, ...look } = push;
    const planned = await planApply(engine, call, look);
    expect(planned.outcome).toMatchObject({ ok: true, plan: { warnings: [{ code: 'source_foreign' }] } });
    // No claim is created by accident either: the source `office` still deletes objects that it no longer declares.
    expect(await ownerIn(office)).toEqual(['office', ['office']]);
    expect((await applyDocuments(engine, call, applyRequest('office', [], { allowEmpty: true }))).state).toBe(
      'applied',
    );
    expect((await engine.snapshots.fresh(office.account)).findByKey('Group', 'devs')).toBeUndefined();
  });

  it('are taken over by force, and stay shared with sources that state them or whose scope lists them', async () => {
    await using office = await served();
    const { engine, call } = office;
    const push = (source: string, more = {}) =>
      applyDocuments(engine, call, applyRequest(source, [devs(`${source}.yaml`)], { isManualApply: true, ...more }));
    expect((await push('cli', { force: true })).state).toBe('applied');
    expect((await push('cli')).state).toBe('applied');
    await recordSource(engine, call, {
      id: 'data',
      type: 'push',
      spec: { scope: { keyPrefixes: ['d-'], groups: ['devs'] } },
    });
    await engine.snapshots.fresh(office.account);
    expect((await push('data')).state).toBe('applied');
    expect(await ownerIn(office)).toEqual(['office', ['cli', 'data', 'office']]);
  });

  it('are applied by hand only with a reason, which is recorded in the audit log', async () => {
    await using office = await served();
    const { engine, call } = office;
    const byHand = applyRequest('office', [devs('groups.yaml', { name: 'Developers' })], { isManualApply: true });
    await expect(applyDocuments(engine, call, byHand)).rejects.toThrow('--override REASON');
    expect((await applyDocuments(engine, call, { ...byHand, override: 'incident 4711' })).state).toBe('applied');
    const [event] = await rowsOf(
      office.database,
      `select meta ->> 'override' as reason from audit_events where activity_code = 'config.applied' order by id desc limit 1`,
    );
    expect(event).toEqual({ reason: 'incident 4711' });
  });
});
