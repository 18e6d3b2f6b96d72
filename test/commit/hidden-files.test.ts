import { describe, expect, it } from 'vitest';
import { applyPlan } from '../../src/features/config/plans/apply-plan.ts';
import { approvePlan } from '../../src/features/config/plans/approvals.ts';
import { applyDocuments, planApply } from '../../src/features/config/plans/documents.ts';
import { createPlan, showPlan } from '../../src/features/config/plans/saved-plans.ts';
import type { FileRules } from '../../src/model/sources/file-rules.ts';
import { document } from '../plan/steps.ts';
import { applyRequest, newOffice, type Office } from './office.ts';

const group = (name: string, file: string) => document('Group', name, {}, { file, line: 1 });
const stated = [
  group('a', 'config/a.yaml'),
  group('b', 'config/drafts/b.yaml'),
  group('c', 'config/drafts/c.yaml'),
  group('d', 'config/d.yaml'),
];
const rules = (...patterns: string[]): readonly FileRules[] => [
  { root: 'config', type: 'ignore', name: 'config/.heddleignore', patterns },
];

async function applied(): Promise<Office> {
  const office = await newOffice('postgres');
  expect((await applyDocuments(office.engine, office.call, applyRequest('office', stated))).state).toBe('applied');
  return office;
}

async function guardsOf({ engine, call }: Office, documents: typeof stated, more: Parameters<typeof applyRequest>[2]) {
  const { outcome } = await planApply(engine, call, applyRequest('office', documents, more));
  return outcome.ok ? outcome.plan.guards : outcome.problems;
}

describe('a file rule that hides documents of stored objects', () => {
  it('needs an approval that names the rule, the objects and the files, however few they are', async () => {
    await using office = await applied();
    const left = stated.filter(({ position }) => !position.file.includes('drafts'));
    expect(await guardsOf(office, left, { rules: rules('# later', 'drafts/') })).toEqual([
      {
        guard: 'hidden',
        message:
          'deletes 2 objects, because .heddleignore:2 (drafts/) excludes the files that stated them: drafts/b.yaml, drafts/c.yaml',
      },
    ]);
    const include: FileRules = {
      root: 'config',
      type: 'include',
      name: '`include` of the source',
      patterns: ['/*.yaml'],
    };
    expect(await guardsOf(office, left, { rules: [include] })).toMatchObject([
      {
        guard: 'hidden',
        message: expect.stringContaining(', because `include` of the source excludes the files that stated '),
      },
    ]);
  });

  it('needs none when files were removed, documents were moved, or nothing is deleted', async () => {
    await using office = await applied();
    const left = stated.filter(({ position }) => !position.file.includes('drafts'));
    expect(await guardsOf(office, left, { rules: rules('other/') })).toEqual([]);
    const moved = [...left, group('b', 'config/b.yaml'), group('c', 'config/c.yaml')];
    expect(await guardsOf(office, moved, { rules: rules('drafts/') })).toEqual([]);
    expect(await guardsOf(office, left, { rules: rules('drafts/'), prune: false })).toEqual([]);
  });

  it.each([
    ['./config', 'config'],
    ['config/', './config'],
    ['/srv/build 7/config', '/srv/build 7/config'],
    ['', ''],
    ['.', '.'],
    ['../team/config', '../team/config'],
  ])('needs the same approval when the directory is pushed as `%s`', async (root, start) => {
    await using office = await applied();
    const { engine, call } = office;
    const left = stated.filter(({ position }) => !position.file.includes('drafts'));
    const plan = async (documents: typeof stated, given: readonly FileRules[]) => {
      const { outcome } = await planApply(engine, call, applyRequest('office', documents, { rules: given }));
      return outcome.ok ? [outcome.plan.guards, outcome.plan.digest] : outcome.problems;
    };
    const pathOf = (name: string) => (start === '' ? name : `${start}/${name}`.replace('///', '/'));
    const moved = left.map((one) => group(one.metadata.name, pathOf(one.position.file.replace('config/', ''))));
    const name = pathOf('.heddleignore');
    const expected = await plan(left, rules('/drafts/'));
    expect(expected).toMatchObject([[{ guard: 'hidden' }], expect.any(String)]);
    expect(await plan(moved, [{ root, type: 'ignore', name, patterns: ['/drafts/'] }])).toEqual(expected);
  });

  it('from the settings file is named relative to the directory', async () => {
    await using office = await applied();
    const name = '`exclude` of ./config/heddle.yaml';
    const exclude: FileRules = { root: './config', type: 'exclude', name, patterns: ['d.yaml'] };
    const [guard] = await guardsOf(office, stated.slice(0, 3), { rules: [exclude] });
    const message =
      'deletes 1 object, because `exclude` of heddle.yaml (d.yaml) excludes the files that stated it: d.yaml';
    expect(guard).toEqual({ guard: 'hidden', message });
  });

  it('needs none for objects of another directory of the same push', async () => {
    await using office = await applied();
    const more = [...stated, group('e', 'other/drafts/e.yaml')];
    expect((await applyDocuments(office.engine, office.call, applyRequest('office', more))).state).toBe('applied');
    expect(await guardsOf(office, stated, { rules: rules('/drafts/') })).toEqual([]);
  });

  it('is approved by the digest of the plan, at once or as a saved plan', async () => {
    await using office = await applied();
    const { engine, call } = office;
    const without = (...names: string[]) => stated.filter(({ metadata }) => !names.includes(metadata.name));
    const first = applyRequest('office', without('d'), { rules: rules('d.yaml') });
    const refused = await applyDocuments(engine, call, first);
    expect(refused.state).toBe('needs_approval');
    const digest = refused.state === 'needs_approval' ? refused.plan.digest : '';
    expect((await applyDocuments(engine, call, { ...first, approve: digest })).state).toBe('applied');

    const second = applyRequest('office', without('d', 'c'), { rules: rules('d.yaml', 'c.yaml') });
    const { id = '', digest: saved } = await createPlan(engine, call, second);
    expect(await showPlan(engine, call, id)).toMatchObject({ state: 'needs_approval', guards: [{ guard: 'hidden' }] });
    await approvePlan(engine, call, id, saved);
    expect(await applyPlan(engine, call, id)).toMatchObject({ plan: { digest: saved, counts: { delete: 1 } } });
  });
});
