import type { Call, Engine } from '../../commit/engine.ts';
import {
  type CalledSource,
  findCalledSources,
  hintSource,
  markHandled,
  otherWriters,
  requestReconcile,
} from '../../db/sources/source-calls.ts';
import { NotFound } from '../../model/errors.ts';

/** A source of any account, with what is asked of it and who runs it. */
export type { CalledSource };

/** All sources of all accounts, for a server to see what it may have to run. */
export async function calledSources(engine: Engine): Promise<readonly CalledSource[]> {
  return findCalledSources(engine.database);
}

/** Asks whichever server runs the source to reconcile it now. Answers when it was asked. Throws `NotFound`. */
export async function askForReconcile(engine: Engine, { account }: Pick<Call, 'account'>, id: string): Promise<string> {
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

/** Tells whichever server runs the source that its content may have changed. */
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
