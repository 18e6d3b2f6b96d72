import type { Call, Engine } from '../../../commit/engine.ts';
import { clearRollbackMark } from '../../../db/sources/sources.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { RollbackScope } from '../../../plan/rollback/scope.ts';
import type { ApplyRequest } from './apply-request.ts';
import type { ApplyResult } from './documents.ts';

/** A former revision of the account, and the part of its state to restore. */
export interface RollbackRequest {
  readonly revision: number;
  readonly scope: RollbackScope;
}

type AppliedResult = Extract<ApplyResult, { readonly state: 'applied' }>;

/** Whether everything that the source states is in effect already, so that applying it changed nothing. */
export function isInEffect(request: ApplyRequest, result: ApplyResult): result is AppliedResult {
  const isAll = request.filter === undefined && request.rollback === undefined && request.prune !== false;
  return isAll && result.state === 'applied' && result.revision === undefined;
}

/**
 * Ends the rollback mark of a source that states what the rollback restored. Its next change is planned like any other.
 */
export async function endRollbackMark(engine: Engine, call: Call, source: string, state: Snapshot): Promise<void> {
  if (state.settingsOf(source).rolledBack === undefined) return;
  const registration = { actor: call.actor, at: engine.now(), requestId: engine.newId() };
  const revision = await clearRollbackMark(engine.database, call.account, source, registration);
  if (revision !== undefined) engine.notices.publish({ what: 'revision', account: call.account, revision });
}
