import type { Plan } from '../../plan/plan.ts';

/** The ids of all objects that a plan changes or claims. */
export function subjectIds(plan: Plan): readonly string[] {
  return [...plan.changes, ...plan.claims].flatMap(({ before, after }) => {
    const id = after?.id ?? before?.id;
    return id === undefined ? [] : [id];
  });
}
