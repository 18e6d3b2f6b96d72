import type { Call, Engine } from '../../commit/engine.ts';
import {
  findOtherWriters,
  findScheduledSources,
  hintSource,
  markHandled,
  requestReconcile,
  type ScheduledSource,
} from '../../db/sources/scheduled-sources.ts';
import { NotFound } from '../../model/errors.ts';

/** A source of any account, with its pending requests and the server that runs it. */
export type { ScheduledSource as CalledSource };

/** Returns all sources of all accounts, so that a server can see which ones it may have to run. */
export async function listScheduledSources(engine: Engine): Promise<readonly ScheduledSource[]> {
  return findScheduledSources(engine.database);
}

/** Requests a reconcile from the server that runs the source. Returns the time of the request. Throws `NotFound`. */
export async function requestSourceRun(
  engine: Engine,
  { account }: Pick<Call, 'account'>,
  id: string,
): Promise<string> {
  const at = await requestReconcile(engine.database, account, id);
  if (at === undefined) throw new NotFound(`source ${id} not found`);
  engine.notices.publish({ what: 'sources', account });
  return at;
}

/** Records that a request and all earlier ones were handled. */
export async function markRequestHandled(
  engine: Engine,
  account: string,
  id: string,
  requested: string,
): Promise<void> {
  await markHandled(engine.database, account, id, requested);
}

/** Notifies the server that runs the source that its content may have changed. */
export async function sendSourceHint(engine: Engine, account: string, id: string): Promise<void> {
  await hintSource(engine.database, account, id);
  engine.notices.publish({ what: 'sources', account });
}

/** Returns the names of others who changed the account recently, with their number of revisions, as text for people. */
export async function describeOtherWriters(
  engine: Engine,
  account: string,
  source: string,
): Promise<readonly string[]> {
  const writers = await findOtherWriters(engine.database, account, source);
  return writers.map(({ name, count }) => `${name} (${count} ${count === 1 ? 'revision' : 'revisions'} lately)`);
}
