import type { NewIdentity } from '../db/accounts/identities.ts';
import type { CommitInput } from '../db/commit/commit.ts';
import {
  commitTogether,
  type DirectoryEntry,
  type ExtraWrite,
  type TogetherInput,
  type TogetherResult,
} from '../db/commit/commit-together.ts';
import { type CommitOutcome, readCommitOutcome } from '../db/commit/revisions.ts';
import type { Database } from '../db/database.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { AuditEvent } from '../model/declare/kind.ts';
import { Unavailable } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { isEmptyPlan, type Plan, type PlanOutcome } from '../plan/plan.ts';
import { auditEvents } from '../plan/view/events.ts';
import { currentContext } from '../telemetry/context.ts';
import { traced } from '../telemetry/span.ts';
import { type BatchWriter, racesBeforeTurn } from './batch.ts';
import type { CommitterOptions } from './commit.ts';
import { identifyCommit, isInDoubt, maxAttempts, settleCommit } from './in-doubt.ts';
import type { Turn } from './turns.ts';

/** Planned changes, by account. */
export type Outcomes = Readonly<Record<string, PlanOutcome>>;

/** A mutation of several accounts: either all of them change, or none. */
export interface SharedMutation {
  readonly actor: Actor;
  readonly accounts: readonly string[];
  /** An account to create, in its state before the mutation. */
  readonly newAccount?: Snapshot;
  /**
   * Directory entries to write. Nothing is written when another account has one of the values, unless the entry yields.
   */
  readonly entries?: readonly DirectoryEntry[];
  /** Identities of users at identity providers to write. Nothing is written when another user has one of them. */
  readonly identities?: readonly NewIdentity[];
  /** Returns statements to write in the same transaction. Nothing is written when a needed statement returns no row. */
  extraWrites?(): readonly ExtraWrite[];
  /** Accounts of the mutation to delete, with all their data. They get no other changes. */
  readonly deletedAccounts?: readonly string[];
  /** Audit events to write in an account, in addition to the events of its changes. */
  readonly events?: Readonly<Record<string, readonly AuditEvent[]>>;
  /**
   * Plans the changes in each account. `stateOf` returns the state of an account. Called again when one of the accounts
   * changed before the commit.
   */
  propose(stateOf: (account: string) => Snapshot): Outcomes | Promise<Outcomes>;
  /** See `Mutation`. */
  requestId?(): string;
}

/**
 * Result of the mutation: the states after it by account, or the problems. `taken`: another account or user has a
 * directory value or an identity. `spent`: a needed statement returned no row.
 */
export type CommittedTogether =
  | { readonly ok: true; readonly after: ReadonlyMap<string, Snapshot>; readonly plans: ReadonlyMap<string, Plan> }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly why?: 'taken' | 'spent' };

/** Plans on the newest states and writes everything in one transaction. Plans again when other writers were faster. */
export async function mutateTogether(options: BatchWriter, mutation: SharedMutation): Promise<CommittedTogether> {
  const name = options.newRequestId();
  // Every mutation takes its turns in the order of the account ids, so that no two mutations wait for each other.
  const turns = [...mutation.accounts].sort().map((account) => options.turns.open(account, name));
  try {
    return await retryUntilWritten(options, mutation, turns);
  } finally {
    await Promise.all(turns.map((turn) => turn.leave()));
  }
}

async function retryUntilWritten(
  options: BatchWriter,
  mutation: SharedMutation,
  turns: readonly Turn[],
): Promise<CommittedTogether> {
  const requestId = mutation.requestId?.();
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (attempt >= racesBeforeTurn) for (const turn of turns) await turn.take();
    const states = await readStates(options, mutation);
    const outcomes = Object.entries(
      await traced('plan', {}, async () => mutation.propose((account) => stateIn(states, account))),
    );
    const problems = outcomes.flatMap(([, outcome]) => (outcome.ok ? [] : outcome.problems));
    if (problems.length > 0) return { ok: false, problems };
    const steps = outcomes.flatMap(([account, outcome]) =>
      outcome.ok
        ? [
            stepOf(
              options,
              { actor: mutation.actor, requestId, moreEvents: mutation.events?.[account] },
              stateIn(states, account),
              outcome,
            ),
          ]
        : [],
    );
    const gone = (mutation.deletedAccounts ?? []).map((account) => ({
      account,
      revision: stateIn(states, account).revision,
    }));
    const result = await write(options, mutation, { steps, deletions: gone, turns });
    if (result === 'taken' || result === 'spent') return { ok: false, problems: [], why: result };
    if (result === 'moved' || result === 'turn') {
      for (const turn of turns) turn.recordMeeting();
      if (result === 'turn' || turns.some(({ isInLine }) => isInLine)) for (const turn of turns) await turn.take();
      continue;
    }
    for (const { plan, input } of steps) notifyListeners(options, mutation.actor, plan, input);
    return {
      ok: true,
      after: new Map(steps.map(({ input }) => [input.base.account, input.next])),
      plans: new Map(steps.map(({ input, plan }) => [input.base.account, plan])),
    };
  }
  throw new Unavailable(`the accounts changed ${maxAttempts} times while this was planned; try again`);
}

type States = ReadonlyMap<string, Snapshot>;

async function readStates({ snapshots }: CommitterOptions, mutation: SharedMutation): Promise<States> {
  const states = new Map<string, Snapshot>();
  for (const account of mutation.accounts) states.set(account, await snapshots.fresh(account));
  if (mutation.newAccount !== undefined) states.set(mutation.newAccount.account, mutation.newAccount);
  return states;
}

function stateIn(states: States, account: string): Snapshot {
  const state = states.get(account);
  if (state === undefined) throw new Error(`the account ${account} is not part of this mutation`);
  return state;
}

/** Part of a mutation in one account. */
interface AccountStep {
  readonly plan: Plan;
  readonly input: CommitInput;
}

/** Actor and request of the mutation, and the audit events in addition to the events of its changes. */
interface MutationContext {
  readonly actor: Actor;
  readonly requestId: string | undefined;
  readonly moreEvents: readonly AuditEvent[] | undefined;
}

function stepOf(
  { now, newRequestId, deletesIdpUsers }: CommitterOptions,
  { actor, requestId = newRequestId(), moreEvents = [] }: MutationContext,
  base: Snapshot,
  { plan, next }: Extract<PlanOutcome, { readonly ok: true }>,
): AccountStep {
  if (isEmptyPlan(plan)) return { plan, input: { base, next: base, revisions: [] } };
  const events = [...auditEvents(plan, base, next), ...moreEvents];
  const { requestId: httpRequest } = currentContext();
  const revision = { revision: next.revision, plan, actor, requestId, httpRequest, deletesIdpUsers, at: now(), events };
  return { plan, input: { base, next, revisions: [revision] } };
}

/** Everything that is written at once, and the turns in the accounts, which all have one name. */
interface WriteAttempt {
  readonly steps: readonly AccountStep[];
  readonly deletions: readonly AccountDeletion[];
  readonly turns: readonly Turn[];
}

/** Writes the parts that change something. When the connection breaks, finds out whether they were written. */
async function write(
  options: BatchWriter,
  mutation: SharedMutation,
  { steps, deletions, turns }: WriteAttempt,
): Promise<TogetherResult> {
  const { database } = options;
  const inputs = steps.map(({ input }) => input).filter(({ revisions }) => revisions.length > 0);
  const { newAccount, entries = [], identities = [] } = mutation;
  if (inputs.length + identities.length + deletions.length === 0) return 'written';
  const together: TogetherInput = {
    inputs,
    newAccounts: newAccount === undefined ? [] : [{ account: newAccount.account, at: options.now() }],
    entries,
    identities,
    extraWrites: mutation.extraWrites?.() ?? [],
    deletedAccounts: deletions,
  };
  try {
    const [turn] = turns;
    return await commitTogether(database, {
      ...together,
      ...(turn === undefined ? {} : { contender: turn.contender }),
    });
  } catch (error) {
    if (!isInDoubt(error)) throw error;
    if (inputs.length + deletions.length === 0) return 'moved';
    const requestId = inputs[0]?.revisions[0]?.requestId ?? options.newRequestId();
    const readOutcomes = async (): Promise<readonly CommitOutcome[]> => [
      ...(await Promise.all(inputs.map((input) => readCommitOutcome(database, identifyCommit(input))))),
      ...(await Promise.all(deletions.map((one) => readDeletionOutcome(database, one, requestId, options.now())))),
    ];
    return await settleCommit(readOutcomes, { requestId, cause: error }, () => commitTogether(database, together));
  }
}

/** An account to delete, at this revision. */
interface AccountDeletion {
  readonly account: string;
  readonly revision: number;
}

/** Returns the outcome of deleting an account: when the account is gone, the deletion was written. */
async function readDeletionOutcome(
  database: Database,
  { account, revision: base }: AccountDeletion,
  requestId: string,
  at: string,
): Promise<CommitOutcome> {
  const outcome = await readCommitOutcome(database, { account, base, requestId, at });
  return outcome === 'gone' ? 'written' : outcome;
}

function notifyListeners(
  options: CommitterOptions,
  actor: Actor,
  plan: Plan,
  { base, next, revisions }: CommitInput,
): void {
  if (revisions.length === 0) return;
  options.snapshots.advance(next);
  options.onCommitted({ account: base.account, revision: next.revision, actor, plan, before: base, after: next });
}
