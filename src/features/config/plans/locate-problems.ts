import { type Problem, sortProblems } from '../../../model/problem.ts';
import type { Outcome, Plan } from '../../../plan/plan.ts';

/** Says more exactly where problems stand in documents. */
export interface Locator {
  place(problems: readonly Problem[]): Promise<readonly Problem[]> | readonly Problem[];
}

/**
 * The outcome with the exact places of what was found in the documents. Their text is read again for it in threads that
 * serve all accounts, so it is no part of planning: all writers of the account would wait for them.
 */
export async function locateOutcome(locator: Locator, outcome: Outcome): Promise<Outcome> {
  return outcome.ok
    ? { ...outcome, plan: await locateWarnings(locator, outcome.plan) }
    : { ...outcome, problems: await locateProblems(locator, outcome.problems) };
}

/** The plan with the exact places of its warnings. */
export async function locateWarnings(locator: Locator, plan: Plan): Promise<Plan> {
  return plan.warnings.length === 0 ? plan : { ...plan, warnings: await locateProblems(locator, plan.warnings) };
}

/** The problems with their exact places. */
export async function locateProblems(locator: Locator, problems: readonly Problem[]): Promise<readonly Problem[]> {
  return sortProblems(await locator.place(problems));
}
