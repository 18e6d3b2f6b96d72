import { describe, expect, it } from 'vitest';
import { applyDocuments, planApply } from '../../src/features/config/plans/documents.ts';
import { maxProblems, type Problem } from '../../src/model/problem.ts';
import { readClaims } from '../../src/objects/pending-claims.ts';
import { viewPlan } from '../../src/plan/view/view.ts';
import { document } from '../plan/steps.ts';
import { applyRequest, newOffice } from './office.ts';

describe('a source with more warnings than an answer lists', () => {
  const count = maxProblems + 500;
  const waiting = Array.from({ length: count }, (_, at) => document('Group', `g${at}`, { peers: ['laptop'] }));

  it('keeps all waiting objects as pending when nothing changes, and is shown with a note', async () => {
    await using office = await newOffice('postgres');
    const { engine, call, account, database } = office;
    for (const isNew of [true, false]) {
      const applied = await applyDocuments(engine, call, applyRequest('a', waiting));
      if (applied.state !== 'applied') throw new Error(applied.state);
      expect(applied.revision !== undefined).toBe(isNew);
      const [claim] = (await readClaims(database, account)).list;
      expect(claim?.pending).toHaveLength(count);
      const { warnings } = viewPlan(applied.plan, applied.before, applied.after);
      expect(warnings).toHaveLength(maxProblems + 1);
      expect(warnings.at(-1)?.message).toBe('there are more warnings than these 1000');
    }
  });

  it('is shown with the warnings that the caller may see, however many others there are', async () => {
    await using office = await newOffice('postgres');
    const isShown = ({ key = '' }: Problem) => key.startsWith('g99');
    const planned = await planApply(office.engine, office.call, applyRequest('a', waiting), (_, found) =>
      found.filter(isShown),
    );
    if (!planned.outcome.ok) throw new Error('the documents are valid');
    const names = waiting.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('g99'));
    expect(planned.outcome.plan.warnings.map(({ key }) => key).sort()).toEqual(names.sort());
  });
});
