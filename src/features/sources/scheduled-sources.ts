import type { Call, Engine } from '../../commit/engine.ts';
import {
  findScheduledSources,
  hintSource,
  markHandled,
  otherWriters,
  requestReconcile,
  type ScheduledSource,
} from '../../db/sources/scheduled-sources.ts';
import { NotFound } from '../../model/errors.ts';

/** A source of any account, with what is asked of it and who runs it. */
export type { ScheduledSource as CalledSource };

/** All sources of all accounts, for a server to see what it may have to run. */
export async function scheduledSources(engine: Engine): Promise<readonly ScheduledSource[]> {
  return findScheduledSources(engine.database);
}

/** Asks whichever server runs the source to reconcile it now. Returns when it was asked. Throws `NotFound`. */
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

/** Notes that a request and all earlier ones were heeded. */
export async function markRequestHandled(
  engine: Engine,
  account: string,
  id: string,
  requested: string,
): Promise<void> {
  await markHandled(engine.database, account, id, requested);
}

/** Notifies the server that runs the source that its content may have changed. */
export async function hintAtSource(engine: Engine, account: string, id: string): Promise<void> {
  await hintSource(engine.database, account, id);
  engine.notices.publish({ what: 'sources', account });
}

/** Who else changed the account lately, as people would say it. */
export async function describeOtherWriters(
  engine: Engine,
  account: string,
  source: string,
): Promise<readonly string[]> {
  const writers = await otherWriters(engine.database, account, source);
  return writers.map(({ name, count }) => `${name} (${count} ${count === 1 ? 'revision' : 'revisions'} lately)`);
}
