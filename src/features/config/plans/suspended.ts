import { Conflict } from '../../../model/errors.ts';
import { isSuspended } from '../../../model/sources/settings.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';

/** Throws `Conflict` when the source is suspended: until it is resumed, what it states stays unchanged. */
export function refuseSuspended(state: Snapshot, source: string): void {
  const settings = state.settingsOf(source);
  if (!isSuspended(settings)) return;
  const { rolledBack, suspended } = settings;
  const since = rolledBack === undefined ? '' : `, because revision ${rolledBack} rolled back to an earlier state`;
  throw new Conflict(
    'refused',
    `source ${source} is suspended${since}: nothing of it is applied, and nothing was changed; ${suspended ? `run \`heddle resume ${source}\` to resume it` : resumeAdviceInCluster}`,
  );
}

/** Advice on resuming a source that its `Source` resource in the cluster suspends. */
export const resumeAdviceInCluster =
  'its `Source` resource in the cluster suspends it, so set `spec.suspend` to false there';

/**
 * Throws `Conflict` when documents are applied by hand for a source that a server runs, unless a reason is given. The
 * result lasts only until the server's next run.
 */
export function refuseByHand(state: Snapshot, source: string, override: string | undefined): void {
  if (!state.settingsOf(source).isServerRun || override !== undefined) return;
  throw new Conflict(
    'refused',
    `source ${source} is run by a server, which applies its own documents again at its next run; change them there, choose another source with --source-name, or apply by hand anyway with --override REASON`,
  );
}
