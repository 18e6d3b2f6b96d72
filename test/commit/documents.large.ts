import { describe, expect, it } from 'vitest';
import { applyDocuments, planApply } from '../../src/features/config/plans/documents.ts';
import { document } from '../plan/steps.ts';
import { applyRequest, newOffice, upTo } from './office.ts';

describe('applies with many objects or concurrent writers', () => {
  it('E91 create 2,000 objects in one plan, and delete them in one', async () => {
    await using office = await newOffice('postgres');
    const { engine, call } = office;
    const groups = upTo(2000).map((at) => document('Group', `g${at}`, {}));
    const made = await applyDocuments(engine, call, applyRequest('a', groups));
    expect(made).toMatchObject({ state: 'applied', plan: { counts: { create: 2000 } } });
    const { outcome } = await planApply(engine, call, applyRequest('a', [], { allowEmpty: true }));
    const approve = outcome.ok ? outcome.plan.digest : '';
    const gone = await applyDocuments(engine, call, applyRequest('a', [], { allowEmpty: true, approve }));
    expect(gone).toMatchObject({ state: 'applied', plan: { counts: { delete: 2000 } } });
  });
});
