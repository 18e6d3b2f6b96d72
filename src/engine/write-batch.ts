import { NotFound, Unavailable } from '../model/errors.ts';
import { type CommitResult, commit } from '../store/commit.ts';
import type { AccountAccess } from '../store/database.ts';
import { catchUp } from '../store/snapshots.ts';
import { describeWriter } from '../store/writer-name.ts';
import { type Planned, planBatch, type Waiting } from './batch.ts';
import type { CommitterOptions } from './commit.ts';
import { attempts, resolveDoubt } from './doubt.ts';

/** How a batch is written. */
export interface Manner {
  /** It is planned already, on what was written last. */
  readonly planned?: Planned;
  /** Told when the statement of the first attempt is on its way. */
  started?(planned: Planned, statement: Promise<unknown>): void;
}

/** Plans a batch, unless that is done, and writes it; plans again when the account moved on meanwhile. */
export async function writeBatch(
  options: CommitterOptions,
  account: string,
  batch: readonly Waiting[],
  { planned: made, started }: Manner,
): Promise<Planned> {
  const { snapshots } = options;
  const seen = Math.max(...batch.map(({ mutation }) => mutation.revision));
  const lost = new Set<string>();
  let planned: Planned | undefined;
  for (let race = false, first = true; planned === undefined && !race; first = false) {
    const attempt =
      first && made !== undefined ? made : await planBatch(options, await snapshots.at(account, seen), batch, lost);
    const result = attempt.revisions.length === 0 ? 'written' : await begin(attempt, first ? started : undefined);
    if (result === 'written') planned = attempt;
    race = result === 'moved';
    if (typeof result === 'object') for (const name of result.lost) lost.add(name);
  }
  for (let attempt = 0; planned === undefined; attempt++) {
    if (attempt === attempts) throw new Unavailable(`the connection broke ${attempts} times; try again`);
    planned = await writeHolding(options, account, batch, lost);
  }
  if (planned.revisions.length > 0) snapshots.advance(planned.tip);
  return planned;

  function begin(attempt: Planned, tell: Manner['started']): Promise<CommitResult> {
    const statement = write(options, attempt);
    tell?.(attempt, statement);
    return statement;
  }
}

/**
 * Plans and writes while no other server can, so that a large plan that lost a race is not overtaken again and again.
 * `undefined` when the connection broke before it was written, or a lease turned out to be lost.
 */
async function writeHolding(
  options: CommitterOptions,
  account: string,
  batch: readonly Waiting[],
  lost: Set<string>,
): Promise<Planned | undefined> {
  const known = await options.snapshots.current(account);
  let planned: Planned | undefined;
  try {
    const work = async (held: AccountAccess): Promise<Planned | undefined> => {
      const base = await catchUp(held, known);
      planned = await planBatch(options, base, batch, lost, held);
      const { tip, revisions } = planned;
      const result = revisions.length === 0 ? 'written' : await commit(held, { base, next: tip, revisions });
      // Nobody else can have moved an account that is held: it is gone.
      if (result === 'moved') throw new NotFound(`account ${account} not found`);
      if (result === 'written') return planned;
      for (const name of result.lost) lost.add(name);
      return undefined;
    };
    const by = batch[0] === undefined ? '' : describeWriter(batch[0].mutation);
    return await options.database.holding(account, work, by);
  } catch (error) {
    if (!(error instanceof Unavailable) || !error.inDoubt) throw error;
    if (planned === undefined || planned.revisions.length === 0) return planned;
    return (await resolveDoubt(options.database, account, planned.revisions, error)) ? planned : undefined;
  }
}

/** Writes the batch. When the connection dies meanwhile, finds out whether it happened before anybody is answered. */
async function write(options: CommitterOptions, planned: Planned): Promise<CommitResult> {
  const { base, tip: next, revisions } = planned;
  try {
    return await commit(options.database, { base, next, revisions });
  } catch (error) {
    if (!(error instanceof Unavailable) || !error.inDoubt) throw error;
    return (await resolveDoubt(options.database, base.account, revisions, error)) ? 'written' : 'moved';
  }
}
