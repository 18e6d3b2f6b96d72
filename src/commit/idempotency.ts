import {
  abandonRequest,
  deleteExpiredRequests,
  findStoredEffects,
  type KnownRequest,
  keepAnswer,
  type RequestAttempt,
  recordRequest,
  takeOverRequest,
} from '../db/commit/idempotency.ts';
import type { KeptValues } from '../db/commit/kept-values.ts';
import type { Json } from '../lib/json.ts';
import { sha256 } from '../lib/node-pure.ts';
import { Conflict, InvalidInput } from '../model/errors.ts';
import { type SealContext, sealContexts } from '../model/schema/sealing.ts';
import type { Call, Engine } from './engine.ts';
import { retryAfterWrite, writeUntilKnown } from './in-doubt.ts';
import type { ShownOnce } from './shown-once.ts';

/** A request that a client may repeat: the client's idempotency key, and a hash of the request. */
export interface Repeatable {
  readonly key: string;
  /** Hash of the request. Equal for equal requests. */
  readonly hash: string;
}

/** Headers of an answer, and the text of its body. `body` is absent when the body is empty. */
interface AnswerText {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A stored answer to a request. */
export interface StoredAnswer extends AnswerText {
  readonly status: number;
  /** The same answer with the values that are shown once. Repeated for a day, and stored sealed. */
  readonly once?: AnswerText;
}

/** Effects of an earlier attempt whose answer was lost. */
export interface EarlierEffects {
  /** Absent when the attempt made no revision. */
  readonly revision?: number;
  /** Absent when the answer shows no value once, or after a day. */
  readonly once?: ShownOnce;
}

/**
 * How to handle a request: carry it out, repeat its stored answer, or answer it by the effects of an earlier attempt.
 */
export type BeginResult =
  | { readonly state: 'begun'; readonly call: Call; readonly attempt: RequestAttempt }
  | { readonly state: 'answered'; readonly answer: StoredAnswer }
  | { readonly state: 'done'; readonly done: EarlierEffects };

/** Carries out requests with the same key only once. */
export interface RequestStore {
  /**
   * Begins a request. Throws `InvalidInput` when the key was used for another request, and `Conflict` (`running`) while
   * the first request is running.
   */
  begin(call: Call, request: Repeatable): Promise<BeginResult>;
  /**
   * Stores the answer to a request that was begun. Returns `done` instead when the answer is a refusal, and an earlier
   * attempt was carried out.
   */
  storeAnswer(call: Call, key: string, attempt: RequestAttempt, answer: StoredAnswer): Promise<'kept' | 'done'>;
  /**
   * Gives up a request that was begun and has no result to be answered again, so that the next attempt need not wait.
   */
  abandon(call: Call, key: string, attempt: RequestAttempt): Promise<void>;
}

/** Interval at which old requests of an account are deleted, in milliseconds. */
const pruneEvery = 10 * 60 * 1000;

/** Creates the store of requests, which is in the database. */
export function createRequestStore(engine: Engine): RequestStore {
  const pruned = new Map<string, number>();
  const prune = async (account: string): Promise<void> => {
    const now = performance.now();
    if (now - (pruned.get(account) ?? -pruneEvery) < pruneEvery) return;
    pruned.set(account, now);
    await deleteExpiredRequests(engine.database, account);
  };
  return {
    async begin(call, request) {
      await prune(call.account);
      return await begin(engine, call, { ...request, key: keyOf(call, request.key) });
    },
    async storeAnswer({ account, ...call }, key, { since, attempted }, { status, once, ...shown }) {
      const stored = keyOf(call, key);
      if (
        call.isRepeated === true &&
        status >= 400 &&
        (await findEarlierEffects(engine, account, stored, since)) !== undefined
      )
        return 'done';
      const context = sealContexts.answer(account, stored);
      const sealed =
        once === undefined ? {} : { sealed: engine.planEnvironment.vault.seal(JSON.stringify(once), context) };
      const kept = { attempted, status, answer: { ...shown, ...sealed } };
      // Storing the same answer again changes nothing, so it may be tried repeatedly.
      await retryAfterWrite(() => keepAnswer(engine.database, account, stored, kept));
      return 'kept';
    },
    abandon: ({ account, ...call }, key, { attempted }) =>
      abandonRequest(engine.database, account, keyOf(call, key), attempted),
  };
}

/** Returns the stored key. It contains the actor, so that callers do not see each other's keys. */
function keyOf({ actor }: Pick<Call, 'actor'>, key: string): string {
  return `${actor.id}:${key}`;
}

async function begin(engine: Engine, call: Call, { key, hash }: Repeatable): Promise<BeginResult> {
  const by = engine.newId();
  const known = await writeUntilKnown({ requestId: key }, () =>
    recordOrFindRequest(engine, call.account, { key, hash, by }),
  );
  if (known.fresh) return beginAttempt(engine, call, key, known);
  if (known.hash !== hash)
    throw new InvalidInput(
      'this Idempotency-Key was used for another request within a day; use a new key for a new request',
    );
  if (known.status !== null)
    return {
      state: 'answered',
      answer: openStoredAnswer(engine, sealContexts.answer(call.account, key), known.status, known.answer),
    };
  const done = await findEarlierEffects(engine, call.account, key, known.since);
  if (done === 'answered') return begin(engine, call, { key, hash });
  if (done !== undefined) return { state: 'done', done };
  const { attempted } = known;
  const taken = known.lapsed ? await takeOverRequest(engine.database, call.account, { key, attempted, by }) : undefined;
  if (taken === undefined)
    throw new Conflict(
      'running',
      'the first request with this Idempotency-Key is still running; repeat the request to get its answer',
    );
  return beginAttempt(engine, { ...call, isRepeated: true }, key, taken);
}

/**
 * Returns the effects of earlier attempts, or `undefined` when there are none. Returns `answered` when the request has
 * an answer by now.
 */
async function findEarlierEffects(
  { database, planEnvironment }: Engine,
  account: string,
  key: string,
  since: number,
): Promise<EarlierEffects | 'answered' | undefined> {
  const found = await findStoredEffects(
    database,
    account,
    key,
    candidateRequestIds(requestIdBase(account, key, since)),
  );
  if (found?.answered === true) return 'answered';
  const { revision = null, sealed = null } = found ?? {};
  if (revision === null && sealed === null) return undefined;
  const open = (text: string) =>
    JSON.parse(planEnvironment.vault.open(text, sealContexts.answer(account, key))) as ShownOnce;
  return { ...(revision === null ? {} : { revision }), ...(sealed === null ? {} : { once: open(sealed) }) };
}

async function recordOrFindRequest(
  engine: Engine,
  account: string,
  request: { readonly key: string; readonly hash: string; readonly by: string },
): Promise<KnownRequest> {
  for (;;) {
    const known = await recordRequest(engine.database, account, request);
    if (known !== undefined) return known;
  }
}

function beginAttempt(
  { planEnvironment }: Engine,
  call: Call,
  key: string,
  { since, attempted }: RequestAttempt,
): BeginResult {
  const { account } = call;
  const ids = candidateRequestIds(requestIdBase(account, key, since));
  let at = 0;
  const requestId = (): string => {
    const id = ids[at] ?? `${ids[0]}.${at + 1}`;
    at += 1;
    return id;
  };
  const sealOnce = (values: ShownOnce): KeptValues => ({
    key,
    sealed: planEnvironment.vault.seal(JSON.stringify(values), sealContexts.answer(account, key)),
  });
  return { state: 'begun', call: { ...call, requestId, sealOnce }, attempt: { since, attempted } };
}

/**
 * Returns the request id under which the commits of a request are written. Derived from the key and the time of the
 * first attempt, so that a repetition finds them.
 */
function requestIdBase(account: string, key: string, since: number): string {
  return `key-${sha256(`${account}\n${key}\n${since}`).slice(0, 40)}`;
}

/** Returns the ids that the commits of a request may have: a request may try more than once before it commits. */
function candidateRequestIds(base: string): readonly string[] {
  return [base, ...[2, 3, 4, 5, 6, 7, 8].map((at) => `${base}.${at}`)];
}

function openStoredAnswer(
  { planEnvironment }: Engine,
  context: SealContext,
  status: number,
  answer: Json | null,
): StoredAnswer {
  // Only `storeAnswer` writes this value.
  const { sealed, headers = {}, body } = (answer ?? {}) as Partial<AnswerText> & { readonly sealed?: string };
  const shown = { status, headers, ...(body === undefined ? {} : { body }) };
  if (sealed === undefined) return shown;
  return { ...shown, once: JSON.parse(planEnvironment.vault.open(sealed, context)) as AnswerText };
}
