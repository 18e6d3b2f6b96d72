import { describe, expect, test } from 'vitest';
import {
  missingGraceMs,
  type ResourceOutcome,
  type ResourceStatus,
  resourceStatus,
} from '../../src/features/sources/kubernetes/status/resource-status.ts';
import type { Problem } from '../../src/model/problem.ts';

const now = '2026-03-01T10:00:00.000Z';
const later = (milliseconds: number) => new Date(Date.parse(now) + milliseconds).toISOString();
const applied: ResourceOutcome = {
  ...{ source: 'k8s.a', generation: 2, problems: [], drifted: 0 },
  object: { id: 'o1', revision: 7 },
};
const missing: Problem = { code: 'reference_unknown', message: 'There is no Group x.', path: '/spec/a' };
const wrong: Problem = { code: 'field_unknown', message: 'There is no field y.' };

const brief = ({ conditions }: ResourceStatus) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));

describe('the status of a resource', () => {
  test('is Ready with its object when it is applied, and reports drift separately', () => {
    const status = resourceStatus({ ...applied, drifted: 2 }, undefined, now);
    expect(status).toMatchObject({ observedGeneration: 2, id: 'o1', revision: 7, source: 'k8s.a' });
    expect(brief(status)).toEqual({
      ...{ Ready: 'True Applied', Reconciling: 'False Applied', Stalled: 'False Applied' },
      ...{ Drifted: 'True ValuesDiffer', Conflicted: 'False NoConflict' },
    });
  });

  test('is Stalled, not Reconciling for hours, when a server with a fast clock saw the missing reference first', () => {
    const ahead = resourceStatus({ ...applied, problems: [missing] }, undefined, later(3 * 3_600_000));
    const status = resourceStatus({ ...applied, problems: [missing] }, ahead, now);
    expect(brief(status)).toMatchObject({ Reconciling: 'False ReferenceMissing', Stalled: 'True ReferenceMissing' });
  });

  test('keeps the transition time of unchanged conditions, and sets a new one for changed conditions (E116)', () => {
    const first = resourceStatus(applied, undefined, now);
    const second = resourceStatus({ ...applied, generation: 3, problems: [wrong] }, first, later(5000));
    const times = second.conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]);
    expect(Object.fromEntries(times)).toEqual({
      ...{ Ready: '2026-03-01T10:00:05Z', Stalled: '2026-03-01T10:00:05Z' },
      ...{ Reconciling: '2026-03-01T10:00:00Z', Drifted: '2026-03-01T10:00:00Z', Conflicted: '2026-03-01T10:00:00Z' },
    });
    expect(second.conditions.every(({ observedGeneration }) => observedGeneration === 3)).toBe(true);
  });

  test('is Stalled with the first problem and the number of the others', () => {
    const status = resourceStatus({ ...applied, problems: [wrong, missing] }, undefined, now);
    expect(brief(status)).toMatchObject({
      Ready: 'False Invalid',
      Stalled: 'True Invalid',
      Reconciling: 'False Invalid',
    });
    expect(status.conditions[0]?.message).toBe('There is no field y.; and 1 more');
    expect(status.problems).toEqual([
      { code: 'field_unknown', message: 'There is no field y.' },
      { code: 'reference_unknown', message: 'There is no Group x.', path: '/spec/a' },
    ]);
  });

  test('is Reconciling while a reference is missing, and Stalled when that takes too long', () => {
    const first = resourceStatus({ ...applied, problems: [missing] }, undefined, now);
    expect(brief(first)).toMatchObject({ Reconciling: 'True ReferenceMissing', Stalled: 'False ReferenceMissing' });
    const second = resourceStatus({ ...applied, problems: [missing] }, first, later(missingGraceMs - 1));
    expect(brief(second)).toMatchObject({ Reconciling: 'True ReferenceMissing' });
    const third = resourceStatus({ ...applied, problems: [missing] }, second, later(missingGraceMs));
    expect(brief(third)).toMatchObject({ Reconciling: 'False ReferenceMissing', Stalled: 'True ReferenceMissing' });
  });

  test('is Conflicted when another source states the same unit', () => {
    const problem: Problem = { code: 'unit_conflict', message: 'k8s.b states another value.' };
    const status = resourceStatus({ ...applied, problems: [problem] }, undefined, now);
    expect(brief(status)).toMatchObject({ Ready: 'False Conflicted', Conflicted: 'True Conflicted' });
  });

  test('names the plan that waits for an approval', () => {
    const waiting = { planId: 'p1', message: 'deletes 7 of 8' };
    const status = resourceStatus({ ...applied, waiting }, undefined, now);
    expect(status).toMatchObject({ planId: 'p1' });
    expect(brief(status)).toMatchObject({ Ready: 'False NeedsApproval', Stalled: 'True NeedsApproval' });
    expect(resourceStatus(applied, status, now)).not.toHaveProperty('planId');
  });

  test('contains at most twenty problems', () => {
    const problems = Array.from({ length: 30 }, () => wrong);
    expect(resourceStatus({ ...applied, problems }, undefined, now).problems).toHaveLength(20);
  });
});
