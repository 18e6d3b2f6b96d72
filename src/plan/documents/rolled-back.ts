import type { Snapshot } from '../../model/state/snapshot.ts';
import { type Change, isEmptyPlan, type Outcome, type TrippedGuard } from '../plan.ts';

/** Documents that change again what a rollback restored need an approval, once. */
export function rolledBackGuard(
  snapshot: Snapshot,
  source: string,
  changes: readonly Change[],
): readonly TrippedGuard[] {
  const { rolledBack } = snapshot.settingsOf(source);
  if (rolledBack === undefined || changes.length === 0) return [];
  const message = `revision ${rolledBack} rolled ${source} back, and this plan changes it again`;
  return [{ guard: 'rollback', message }];
}

/** What a source does after a rollback settles it: from then on it is planned like any other. */
export function settleRollback(outcome: Outcome, source: string): Outcome {
  if (!outcome.ok || isEmptyPlan(outcome.plan)) return outcome;
  const { rolledBack, ...settings } = outcome.next.settingsOf(source);
  if (rolledBack === undefined) return outcome;
  return { ...outcome, next: outcome.next.withSettings(new Map([...outcome.next.settings(), [source, settings]])) };
}
