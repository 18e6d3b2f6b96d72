import type { Call, Engine } from '../../../commit/engine.ts';
import { settleRollback } from '../../../db/sources/sources.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { RollbackScope } from '../../../plan/rollback/scope.ts';
import type { ApplyRequest } from './apply-request.ts';
import type { Reconciled } from './documents.ts';

/** A former state of the account, and how much of it comes back. */
export interface RollbackRequest {
  readonly revision: number;
  readonly scope: RollbackScope;
}

type Applied = Extract<Reconciled, { readonly state: 'applied' }>;

/** Whether all that a source states is so, without a change. */
export function isAgreed(request: ApplyRequest, result: Reconciled): result is Applied {
  const isAll = request.filter === undefined && request.rollback === undefined && request.prune !== false;
  return isAll && result.state === 'applied' && result.revision === undefined;
}

/** A source that states what a rollback put back has followed it: its next change is one like any other. */
export async function settleAgreed(engine: Engine, call: Call, source: string, state: Snapshot): Promise<void> {
  if (state.settingsOf(source).rolledBack === undefined) return;
  const registration = { actor: call.actor, at: engine.now(), requestId: engine.newId() };
  const revision = await settleRollback(engine.database, call.account, source, registration);
  if (revision !== undefined) engine.notices.publish({ what: 'revision', account: call.account, revision });
}
