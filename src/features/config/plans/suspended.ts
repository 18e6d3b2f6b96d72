import { Conflict } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';

/** Refuses to apply documents of a suspended source: until it is resumed, what it states stays as it is. */
export function refuseSuspended(state: Snapshot, source: string): void {
  const { suspended, rolledBack } = state.settingsOf(source);
  if (!suspended) return;
  const since = rolledBack === undefined ? '' : `, since revision ${rolledBack} went back to a former state`;
  throw new Conflict(
    'refused',
    `source ${source} is suspended${since}: nothing of it is applied, and nothing was changed; \`heddle resume ${source}\` lets it go on`,
  );
}

/**
 * Refuses to apply documents by hand for a source that a server runs, unless that is intended: it lasts until the
 * server's next run.
 */
export function refuseByHand(state: Snapshot, source: string, override: string | undefined): void {
  if (!state.settingsOf(source).isRun || override !== undefined) return;
  throw new Conflict(
    'refused',
    `source ${source} is run by a server, which applies its own documents again at its next turn; change them there, choose another source with --source-name, or apply by hand all the same with --override REASON`,
  );
}
