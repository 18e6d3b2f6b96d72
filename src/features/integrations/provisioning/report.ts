import type { Engine } from '../../../commit/engine.ts';
import { recordLastSync } from '../../../db/logs/integration-syncs.ts';
import { addSyncLogs, type SyncLog } from '../../../db/logs/sync-logs.ts';
import type { ProvisioningResult } from './provision.ts';

/** Maximum number of findings of one change that the log of an integration lists. */
const maxListedFindings = 100;

/**
 * Returns the log entries about a change: its effect, what could not be imported, and whether it waits for an approval.
 */
export function syncLogsOf(made: ProvisioningResult, timestamp: string): readonly SyncLog[] {
  const { findings, waiting, plan } = made;
  const warnings = findings
    .slice(0, maxListedFindings)
    .map(({ message }): SyncLog => ({ level: 'warning', timestamp, message }));
  const rest = findings.length - warnings.length;
  const more: readonly SyncLog[] =
    rest > 0 ? [{ level: 'warning', timestamp, message: `${rest} more of that kind` }] : [];
  if (waiting !== undefined) {
    const why = waiting.guards.map(({ message }) => message).join('; ');
    const message = `nothing was changed, because the change ${why}. Look at the plan ${waiting.id}, and approve it with \`heddle approve ${waiting.id}\``;
    return [...warnings, ...more, { level: 'error', timestamp, message }];
  }
  if (made.revision === undefined) return [...warnings, ...more];
  return [{ level: 'info', timestamp, message: summaryOf(made, plan.counts) }, ...warnings, ...more];
}

function summaryOf(
  { revision, removals }: ProvisioningResult,
  { create, update, delete: gone }: ProvisioningResult['plan']['counts'],
): string {
  const { length: going } = removals.users;
  const out = going === 0 ? '' : `, ${going} ${going === 1 ? 'user' : 'users'} kept out`;
  return `revision ${revision}: ${create} created, ${update} changed, ${gone} deleted${out}`;
}

/** Records the time at which an integration applied its provider's data, and the log entries about it. */
export async function recordSync(
  engine: Engine,
  account: string,
  integration: string,
  entries: readonly SyncLog[],
): Promise<void> {
  await recordLastSync(engine.database, account, integration, engine.now());
  if (entries.length > 0) await addSyncLogs(engine.database, account, integration, entries);
}
