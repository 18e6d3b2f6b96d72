import { Conflict } from '../model/errors.ts';
import type { Snapshot } from '../model/snapshot.ts';

/** Refuses what somebody applies for a source that is suspended: until it is resumed, what it states stays as it is. */
export function refuseSuspended(state: Snapshot, source: string): void {
  const { suspended, rolledBack } = state.settingsOf(source);
  if (!suspended) return;
  const since = rolledBack === undefined ? '' : `, since revision ${rolledBack} went back to a former state`;
  throw new Conflict(
    'refused',
    `source ${source} is suspended${since}: nothing of it is applied, and nothing was changed; \`heddle resume ${source}\` lets it go on`,
  );
}
