import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/model/problem.ts';
import { broken, fileOf, holdBackInAccounts, inFile } from './holding-back.ts';
import { allow, applyOn, document, linesOf, office, planHolding, planned, planOn, refusals } from './steps.ts';

const group = (name: string, spec = {}) => inFile(document('Group', name, spec));
const policy = (name: string, sources: readonly string[], more = {}) => inFile(allow(name, sources, ['All'], more));

const heldIn = (outcome: ReturnType<typeof planHolding>) =>
  (planned(outcome).plan.heldBack ?? []).map(({ file, problems }) => `${file}: ${problems.map(({ code }) => code)}`);

describe('a source that holds back invalid documents', () => {
  const first = [group('a', { peers: ['p1'] }), group('b'), policy('p', ['a'])];
  const applied = applyOn(office, 's', first);

  it('applies the other documents when one is invalid, and keeps the object of that one as last applied', () => {
    const outcome = planHolding(applied, 's', [broken(group('a')), group('b', { peers: ['p2'] }), policy('p', ['b'])]);
    expect(linesOf(outcome, applied)).toEqual(['update Group/b: peers[p2]', 'update Policy/p: rules[main]']);
    expect(heldIn(outcome)).toEqual(['Group-a.json: field_unknown']);
  });

  it('holds back what refers to a held-back document, directly or indirectly, and reports the cause', () => {
    const policies = [policy('p', ['a'], { description: 'changed' }), policy('q', ['b'])];
    const outcome = planHolding(applied, 's', [broken(group('a')), group('b'), ...policies]);
    expect(linesOf(outcome, applied)).toEqual(['create Policy/q']);
    expect(heldIn(outcome)).toEqual(['Group-a.json: field_unknown', 'Policy-p.json: reference_held_back']);
    const [, held] = planned(outcome).plan.heldBack ?? [];
    expect(held?.problems[0]?.message).toMatch(
      /refers to Group a, which is held back because of problems in Group-a.json/,
    );
  });

  it('creates neither an invalid new document nor what refers to it', () => {
    const outcome = planHolding(applied, 's', [...first, broken(group('new')), policy('q', ['new'])]);
    expect(linesOf(outcome, applied)).toEqual([]);
    expect(heldIn(outcome)).toEqual(['Group-new.json: field_unknown', 'Policy-q.json: reference_held_back']);
  });

  it('holds back a document with an unknown reference', () => {
    const outcome = planHolding(applied, 's', [...first, group('c'), policy('q', ['nothing'])]);
    expect(linesOf(outcome, applied)).toEqual(['create Group/c']);
    expect(heldIn(outcome)).toEqual(['Policy-q.json: reference_unknown']);
  });

  it('deletes what is no longer stated, but nothing that an unreadable file states', () => {
    const file = fileOf('Group', 'a');
    const unread: Problem = { code: 'name_invalid', message: 'unreadable', file, line: 1, column: 1 };
    const outcome = planHolding(applied, 's', [policy('p', ['a'])], [unread]);
    expect(linesOf(outcome, applied)).toEqual(['delete Group/b']);
    expect(heldIn(outcome)).toEqual([`${file}: name_invalid`, 'Policy-p.json: reference_held_back']);
  });

  it('treats a held-back document as stated, so that no guard considers the source empty', () => {
    const alone = applyOn(office, 's', [group('a')]);
    expect(planned(planHolding(alone, 's', [broken(group('a'))])).plan.guards).toEqual([]);
  });

  it('refuses the plan when the source as a whole is faulty', () => {
    const unread: Problem = { code: 'pattern_invalid', message: 'wrong settings' };
    expect(refusals(planHolding(applied, 's', first, [unread]))).toEqual(['pattern_invalid undefined/undefined']);
  });

  it('gives the same plan as a source that holds nothing back when nothing is wrong', () => {
    const second = [group('a'), group('c'), policy('p', ['c'])];
    expect(planned(planHolding(applied, 's', second)).plan.digest).toBe(
      planned(planOn(applied, 's', second)).plan.digest,
    );
  });

  it('reaches the state with each held-back document as last applied', () => {
    holdBackInAccounts(8);
  });
});
