import { firstProblems, firstWarnings, type Problem, shortenProblem, sortProblems } from '../../../model/problem.ts';
import type { Plan, PlanOutcome } from '../../../plan/plan.ts';

/** Finds the exact positions of problems in documents. */
export interface ProblemLocator {
  locate(problems: readonly Problem[]): Promise<readonly Problem[]> | readonly Problem[];
}

/**
 * Returns the outcome with the exact positions of its problems or warnings. This reads the document texts again, in
 * threads that serve all accounts. It is therefore not part of planning: all writers of the account would wait for
 * these threads.
 */
export async function locateOutcome(locator: ProblemLocator, outcome: PlanOutcome): Promise<PlanOutcome> {
  return outcome.ok
    ? { ...outcome, plan: await locateWarnings(locator, outcome.plan) }
    : { ...outcome, problems: await locateProblems(locator, outcome.problems) };
}

/**
 * Returns the plan with the exact positions of its first warnings, sorted, and a note when there are more. Only for a
 * plan that is shown: what it postpones follows from all of its warnings.
 */
export async function locateWarnings(locator: ProblemLocator, plan: Plan): Promise<Plan> {
  if (plan.warnings.length === 0) return plan;
  return { ...plan, warnings: await locateShown(locator, firstWarnings(plan.warnings)) };
}

/** Returns the first problems with their exact positions, sorted, and a note when there are more. */
export async function locateProblems(
  locator: ProblemLocator,
  problems: readonly Problem[],
): Promise<readonly Problem[]> {
  return locateShown(locator, firstProblems(problems));
}

async function locateShown(locator: ProblemLocator, shown: readonly Problem[]): Promise<readonly Problem[]> {
  return sortProblems((await locator.locate(shown)).map(shortenProblem));
}
