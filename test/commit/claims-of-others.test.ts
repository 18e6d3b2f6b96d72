import { describe, expect, it } from 'vitest';
import { exportDocuments } from '../../src/features/config/archive/export.ts';
import type { ApplyRequest } from '../../src/features/config/plans/apply-request.ts';
import { applyDocuments, planApply } from '../../src/features/config/plans/documents.ts';
import { recordSource } from '../../src/features/sources/sources.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { readTables } from '../db/accounts.ts';
import { document, objectOf } from '../plan/steps.ts';
import { applyRequest, newOffice, type Office, rowsOf } from './office.ts';

const rules = [{ name: 'r', action: 'accept', protocol: 'all', sources: ['All'], destinations: ['All'] }];
const policy = (file: string, spec: JsonObject) => document('Policy', 'p', { rules, ...spec }, { file, line: 7 });
const off = policy('a.yaml', { enabled: false });
const on = policy('b.yaml', { enabled: true });

async function apply(
  { engine, call }: Office,
  source: string,
  wanted: readonly ReturnType<typeof document>[],
  more: Partial<ApplyRequest> = {},
) {
  const result = await applyDocuments(engine, call, applyRequest(source, wanted, more));
  return result.state === 'invalid'
    ? result.problems.map(({ code, path, message }) => `${code} ${path} ${message}`)
    : [result.state];
}

const expectedRows = (office: Office) =>
  rowsOf(office.database, `select id, wanted from sources where wanted <> '{}' order by id`);

async function enabledIn({ engine, account }: Office): Promise<unknown> {
  return objectOf(await engine.snapshots.fresh(account), 'Policy', 'p').spec['enabled'];
}

/** Creates an office in which source `a` has disabled the policy, and source `b`, which enables it, was refused. */
async function contradiction(): Promise<Office> {
  const office = await newOffice('postgres');
  expect(await apply(office, 'a', [off])).toEqual(['applied']);
  expect(await apply(office, 'b', [on])).toEqual([
    expect.stringContaining(
      'unit_conflict /spec/enabled enabled is stated with another value by the source a at a.yaml:7',
    ),
  ]);
  return office;
}

describe('E45 two sources that conflict about a value', () => {
  it('do not flap: the current value stays, and the source that states another one is refused', async () => {
    await using office = await contradiction();
    const { revision } = await office.engine.snapshots.fresh(office.account);
    for (let round = 0; round < 3; round++) {
      expect(await apply(office, 'a', [off])).toEqual(['applied']);
      expect(await apply(office, 'b', [on])).toEqual([expect.stringContaining('unit_conflict')]);
    }
    expect([await enabledIn(office), (await office.engine.snapshots.fresh(office.account)).revision]).toEqual([
      false,
      revision,
    ]);
  });

  it('are both refused a change to a third value, naming the file and line, on any server', async () => {
    await using office = await newOffice('postgres');
    const described = (file: string, description: string) => policy(file, { description });
    await apply(office, 'a', [described('a.yaml', 'ours')]);
    await apply(office, 'b', [described('b.yaml', 'theirs')]);
    const engine = await office.another();
    const result = await applyDocuments(engine, office.call, applyRequest('a', [described('a.yaml', 'a third one')]));
    expect(result).toMatchObject({ state: 'invalid', problems: [{ code: 'unit_conflict', file: 'a.yaml', line: 7 }] });
  });

  it.each([
    ['the first agrees', 'a', policy('a.yaml', { enabled: true }), 'b', on, true],
    ['the first withdraws', 'a', policy('a.yaml', {}), 'b', on, true],
    ['the second agrees', 'b', policy('b.yaml', { enabled: false }), 'a', off, false],
    ['the second withdraws', 'b', policy('b.yaml', {}), 'a', off, false],
  ] as const)('are both applied when %s', async (_, first, changed, second, same, enabled) => {
    await using office = await contradiction();
    expect(await apply(office, first, [changed])).toEqual(['applied']);
    expect(await apply(office, second, [same])).toEqual(['applied']);
    expect([await enabledIn(office), await expectedRows(office)]).toEqual([enabled, []]);
  });

  it('E50 are settled by the source that forces its value; the other is refused from then on', async () => {
    await using office = await contradiction();
    expect(await apply(office, 'b', [on], { force: true })).toEqual(['applied']);
    expect(await enabledIn(office)).toBe(true);
    expect(await apply(office, 'a', [off])).toEqual([expect.stringContaining('by the source b at b.yaml:7')]);
    expect(await enabledIn(office)).toBe(true);
    // Source `a`, which lost the value, does not block source `b`, which forced it: neither with the current nor with
    // another value.
    expect(await apply(office, 'b', [on])).toEqual(['applied']);
    expect(await apply(office, 'b', [policy('b.yaml', { enabled: true, description: 'more' })])).toEqual(['applied']);
    expect(await apply(office, 'b', [off])).toEqual(['applied']);
    expect(await apply(office, 'a', [off])).toEqual(['applied']);
    expect(await expectedRows(office)).toEqual([]);
  });

  it('E50 do not block further values of the source that forced, even after repeated refused pushes of the other', async () => {
    await using office = await newOffice('postgres');
    const described = (source: string, description: string) => [policy(`${source}.yaml`, { description })];
    expect(await apply(office, 'a', described('a', 'ours'))).toEqual(['applied']);
    expect(await apply(office, 'b', described('b', 'theirs'))).toEqual([expect.stringContaining('unit_conflict')]);
    expect(await apply(office, 'b', described('b', 'theirs'), { force: true })).toEqual(['applied']);
    for (const third of ['a third', 'a fourth']) {
      expect(await apply(office, 'a', described('a', 'ours'))).toEqual([expect.stringContaining('by the source b')]);
      expect(await apply(office, 'b', described('b', third))).toEqual(['applied']);
    }
    // The claim still blocks a source that did not force a value.
    expect(await apply(office, 'b', [policy('b.yaml', {})])).toEqual(['applied']);
    expect(await apply(office, 'c', described('c', 'of a third source'))).toEqual([
      expect.stringContaining('unit_conflict'),
    ]);
  });

  it('block only the conflicting value: other changes are applied, and an export plans no change', async () => {
    await using office = await contradiction();
    const { engine, call, account } = office;
    const more = [policy('a.yaml', { enabled: false, description: 'new' }), document('Group', 'g')];
    expect(await apply(office, 'a', more)).toEqual(['applied']);
    expect(await apply(office, 'c', [policy('c.yaml', { enabled: false })])).toEqual(['applied']);
    const state = await engine.snapshots.fresh(account);
    const exported = exportDocuments(state).map(({ kind, metadata, spec }) =>
      document(kind, metadata.name, spec, { ...metadata }),
    );
    const planned = await planApply(engine, call, applyRequest('export', exported));
    expect(planned.outcome).toMatchObject({ ok: true, plan: { changes: [] } });
  });

  it('do not block each other while one is suspended', async () => {
    await using office = await contradiction();
    const { engine, call, account } = office;
    await recordSource(engine, call, { id: 'b', type: 'directory', spec: {} });
    await rowsOf(office.database, `update sources set suspended = true where id = 'b'`);
    await rowsOf(office.database, `update accounts set revision = revision + 1`);
    await engine.snapshots.fresh(account);
    expect(await apply(office, 'a', [off])).toEqual(['applied']);
  });
});

describe('the claims of a refused source', () => {
  it('are stored by applies and not by plans, also for a source that only pushes', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    await apply(office, 'a', [off]);
    const before = await readTables(office.database);
    const planned = await planApply(engine, call, applyRequest('b', [on]));
    expect([planned.outcome.ok, await readTables(office.database)]).toEqual([false, before]);
    await apply(office, 'b', [on]);
    expect(await expectedRows(office)).toMatchObject([
      { id: 'b', wanted: { keys: ['Policy/p'], units: [{ kind: 'Policy', key: 'p', path: 'enabled', line: 7 }] } },
    ]);
  });

  it('E69 include the objects of a plan that waits for an approval', async () => {
    await using office = await newOffice('postgres');
    const groups = [1, 2, 3, 4].map((at) => document('Group', `g${at}`));
    await apply(office, 'a', [off]);
    await apply(office, 'b', groups);
    expect(await apply(office, 'b', [policy('b.yaml', {})])).toEqual(['needs_approval']);
    expect(await expectedRows(office)).toEqual([{ id: 'b', wanted: { keys: ['Policy/p'] } }]);
    expect(await apply(office, 'b', [...groups, policy('b.yaml', {})])).toEqual(['applied']);
    expect(await expectedRows(office)).toEqual([]);
  });

  it('are kept when the documents cannot be parsed', async () => {
    await using office = await contradiction();
    const noted = await expectedRows(office);
    await apply(office, 'b', [], { problems: [{ code: 'yaml_invalid', message: 'broken' }] });
    expect(await expectedRows(office)).toEqual(noted);
  });
});
