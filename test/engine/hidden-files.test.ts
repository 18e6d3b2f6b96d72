import { describe, expect, it } from 'vitest';
import { applyPlan } from '../../src/engine/apply-plan.ts';
import { approvePlan } from '../../src/engine/approvals.ts';
import { applyDesire, planDesire } from '../../src/engine/documents.ts';
import { createPlan, showPlan } from '../../src/engine/saved-plans.ts';
import type { FileRules } from '../../src/model/file-rules.ts';
import { document } from '../plan/steps.ts';
import { desire, newOffice, type Office } from './office.ts';

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
  expect((await applyDesire(office.engine, office.call, desire('office', stated))).state).toBe('applied');
  return office;
}

async function guardsOf({ engine, call }: Office, documents: typeof stated, more: Parameters<typeof desire>[2]) {
  const { outcome } = await planDesire(engine, call, desire('office', documents, more));
  return outcome.ok ? outcome.plan.guards : outcome.problems;
}

describe('a rule that hides files which stated objects', () => {
  it('wants an approval that names it, the objects and the files, however few they are', async () => {
    await using office = await applied();
    const left = stated.filter(({ place }) => !place.file.includes('drafts'));
    expect(await guardsOf(office, left, { rules: rules('# later', 'drafts/') })).toEqual([
      {
        guard: 'hidden',
        message:
          'deletes 2 objects, because config/.heddleignore:2 (drafts/) leaves out what stated them: config/drafts/b.yaml, config/drafts/c.yaml',
      },
    ]);
    const include: FileRules = {
      root: 'config',
      type: 'include',
      name: '`include` of the source',
      patterns: ['/*.yaml'],
    };
    expect(await guardsOf(office, left, { rules: [include] })).toMatchObject([
      { guard: 'hidden', message: expect.stringContaining('`include` of the source leaves out') },
    ]);
  });

  it('wants none where files were removed, documents moved to other files, or nothing is deleted', async () => {
    await using office = await applied();
    const left = stated.filter(({ place }) => !place.file.includes('drafts'));
    expect(await guardsOf(office, left, { rules: rules('other/') })).toEqual([]);
    const moved = [...left, group('b', 'config/b.yaml'), group('c', 'config/c.yaml')];
    expect(await guardsOf(office, moved, { rules: rules('drafts/') })).toEqual([]);
    expect(await guardsOf(office, left, { rules: rules('drafts/'), prune: false })).toEqual([]);
  });

  it('is approved by the digest of the plan, at once or as a saved plan', async () => {
    await using office = await applied();
    const { engine, call } = office;
    const without = (...names: string[]) => stated.filter(({ metadata }) => !names.includes(metadata.name));
    const first = desire('office', without('d'), { rules: rules('d.yaml') });
    const refused = await applyDesire(engine, call, first);
    expect(refused.state).toBe('needs_approval');
    const digest = refused.state === 'needs_approval' ? refused.plan.digest : '';
    expect((await applyDesire(engine, call, { ...first, approve: digest })).state).toBe('applied');

    const second = desire('office', without('d', 'c'), { rules: rules('d.yaml', 'c.yaml') });
    const { id = '', digest: saved } = await createPlan(engine, call, second);
    expect(await showPlan(engine, call, id)).toMatchObject({ state: 'needs_approval', guards: [{ guard: 'hidden' }] });
    await approvePlan(engine, call, id, saved);
    expect(await applyPlan(engine, call, id)).toMatchObject({ plan: { digest: saved, counts: { delete: 1 } } });
  });
});
