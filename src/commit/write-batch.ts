import { type CommitResult, commit, compileCommit } from '../db/commit/commit.ts';
import { readFate } from '../db/commit/revisions.ts';
import { Unavailable } from '../model/errors.ts';
import { type Planned, planBatch, type Waiting } from './batch.ts';
import type { CommitterOptions } from './commit.ts';
import { attempts, isInDoubt, markOf, settleCommit } from './in-doubt.ts';
import { inSlices } from './slices.ts';
import type { Turn, Turns } from './turns.ts';

/** How a batch is written. */
export interface Manner {
  /** It is planned already, on what was written last. */
  readonly planned?: Planned;
  /** Called when the statement of the first attempt is on its way. */
  started?(planned: Planned, statement: Promise<unknown>): void;
}

/** With what batches are written. */
export type BatchWriter = CommitterOptions & { readonly turns: Turns };

/** After so many lost races a batch takes the turn, to plan in peace. */
const racesBeforeTurn = 2;

/**
 * Plans a batch, unless that is done, and writes it; plans again when the account moved on meanwhile. The account is never
 * locked while something is planned: what counts is that it is still at the revision on which the plan was made.
 */
export async function writeBatch(
  writer: BatchWriter,
  account: string,
  batch: readonly Waiting[],
  manner: Manner,
): Promise<Planned> {
  const turn = writer.turns.open(account);
  const planned = await tryOften(writer, { account, batch, turn }, manner).finally(() => turn.end());
  if (planned === undefined)
    throw new Unavailable(`the account changed ${attempts} times while this was planned; try again`);
  if (planned.revisions.length > 0) writer.snapshots.advance(planned.tip);
  return planned;
}

/** A batch on its way. */
interface Race {
  readonly account: string;
  readonly batch: readonly Waiting[];
  readonly turn: Turn;
}

/** Plans and writes; `undefined` when others were faster each time. */
async function tryOften(
  writer: BatchWriter,
  { account, batch, turn }: Race,
  { planned: made, started }: Manner,
): Promise<Planned | undefined> {
  const { snapshots, turns } = writer;
  const lost = new Set<string>();
  const seen = Math.max(...batch.map(({ mutation }) => mutation.revision));
  // A first attempt is planned on what is at hand; one after a lost race on what is there now.
  let readBase = () => (started === undefined ? snapshots.fresh(account) : snapshots.at(account, seen));
  for (let races = 0, first = true; races < attempts; first = false) {
    if (races >= racesBeforeTurn) await turn.take();
    const planned = first && made !== undefined ? made : await planBatch(writer, await readBase(), batch, lost);
    if (planned.revisions.length === 0) return planned;
    const statement = write(writer, planned);
    if (first) started?.(planned, statement);
    const result = await statement;
    if (result === 'written') return planned;
    if (result === 'turn') await turns.respect(account);
    if (result === 'moved' || result === 'turn') races += 1;
    else for (const name of result.lost) lost.add(name);
    readBase = () => snapshots.fresh(account);
  }
  return undefined;
}

/**
 * Writes the batch. When the connection dies meanwhile, finds out whether it happened before anybody is answered. A short
 * statement has left when this returns; a long one is made in slices, and only this account waits for it.
 */
async function write({ database, turns }: BatchWriter, planned: Planned): Promise<CommitResult> {
  const { base, tip: next, revisions } = planned;
  const input = { base, next, revisions };
  const made = inSlices(compileCommit(input, turns.server));
  const compiled = made instanceof Promise ? await made : made;
  try {
    return await commit(database, compiled);
  } catch (error) {
    if (!isInDoubt(error)) throw error;
    const mark = markOf(input);
    // It was sent before the turn that another server may have taken by now.
    const again = async () => commit(database, await inSlices(compileCommit(input)));
    return await settleCommit(async () => [await readFate(database, mark)], { ...mark, cause: error }, again);
  }
}
