import {
  type Attempt,
  findTraces,
  forgetRequests,
  type KnownRequest,
  keepAnswer,
  lapseRequest,
  noteRequest,
  takeOverRequest,
} from '../db/commit/idempotency.ts';
import type { KeptValues } from '../db/commit/kept-values.ts';
import type { Json } from '../lib/json.ts';
import { sha256 } from '../lib/node-pure.ts';
import { Conflict, InvalidInput } from '../model/errors.ts';
import { type SealPlace, sealPlaces } from '../model/schema/sealing.ts';
import type { Call, Engine } from './engine.ts';
import { onceWritten, writeUntilKnown } from './in-doubt.ts';
import type { ShownOnce } from './shown-once.ts';

/** A request that may come more than once: the caller's key, and what was asked. */
export interface Repeatable {
  readonly key: string;
  /** Equal for equal requests. */
  readonly hash: string;
}

/** Headers of an answer, and the text of its body; absent: the body is empty. */
interface AnswerText {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer as it was given. */
export interface KeptAnswer extends AnswerText {
  readonly status: number;
  /** The same with values that are shown once: repeated for a day, and sealed meanwhile. */
  readonly once?: AnswerText;
}

/** What an earlier attempt did whose answer was lost. */
export interface Done {
  /** Absent when it made none. */
  readonly revision?: number;
  /** Absent when its answer shows nothing once, or after a day. */
  readonly once?: ShownOnce;
}

/** What to do with a request: carry it out, answer it again, or answer it by what it did. */
export type Begun =
  | { readonly state: 'begun'; readonly call: Call; readonly attempt: Attempt }
  | { readonly state: 'answered'; readonly answer: KeptAnswer }
  | { readonly state: 'done'; readonly done: Done };

/** Carries out requests of the same key once. */
export interface Requests {
  /** Throws `InvalidInput` when the key was used for something else, `Conflict` (`running`) while the first is under way. */
  begin(call: Call, request: Repeatable): Promise<Begun>;
  /**
   * Keeps the answer to a request that was begun; returns `done` when it is a refusal, and an earlier attempt was carried
   * out after all.
   */
  keep(call: Call, key: string, attempt: Attempt, answer: KeptAnswer): Promise<'kept' | 'done'>;
  /** A request that was begun came to nothing that would have to be answered again. */
  abandon(call: Call, key: string, attempt: Attempt): Promise<void>;
}

/** How often the requests of an account are looked through for old ones, in milliseconds. */
const pruneEvery = 10 * 60 * 1000;

/** Creates the memory of requests, which is in the database. */
export function createRequests(engine: Engine): Requests {
  const pruned = new Map<string, number>();
  const prune = async (account: string): Promise<void> => {
    const now = performance.now();
    if (now - (pruned.get(account) ?? -pruneEvery) < pruneEvery) return;
    pruned.set(account, now);
    await forgetRequests(engine.database, account);
  };
  return {
    async begin(call, request) {
      await prune(call.account);
      return await begin(engine, call, { ...request, key: keyOf(call, request.key) });
    },
    async keep({ account, ...call }, key, { since, attempted }, { status, once, ...shown }) {
      const stored = keyOf(call, key);
      if (call.isRepeated === true && status >= 400 && (await findDone(engine, account, stored, since)) !== undefined)
        return 'done';
      const place = sealPlaces.answer(account, stored);
      const sealed =
        once === undefined ? {} : { sealed: engine.planEnvironment.vault.seal(JSON.stringify(once), place) };
      const kept = { attempted, status, answer: { ...shown, ...sealed } };
      // The same is kept, however often that is tried.
      await onceWritten(() => keepAnswer(engine.database, account, stored, kept));
      return 'kept';
    },
    abandon: ({ account, ...call }, key, { attempted }) =>
      lapseRequest(engine.database, account, keyOf(call, key), attempted),
  };
}

/** Callers do not see each other's keys. */
function keyOf({ actor }: Pick<Call, 'actor'>, key: string): string {
  return `${actor.id}:${key}`;
}

async function begin(engine: Engine, call: Call, { key, hash }: Repeatable): Promise<Begun> {
  const by = engine.newId();
  const known = await writeUntilKnown({ requestId: key }, () => noted(engine, call.account, { key, hash, by }));
  if (known.fresh) return begun(engine, call, key, known);
  if (known.hash !== hash)
    throw new InvalidInput(
      'this Idempotency-Key was used for another request within a day; use a new key for a new request',
    );
  if (known.status !== null)
    return {
      state: 'answered',
      answer: answerOf(engine, sealPlaces.answer(call.account, key), known.status, known.answer),
    };
  const done = await findDone(engine, call.account, key, known.since);
  if (done === 'answered') return begin(engine, call, { key, hash });
  if (done !== undefined) return { state: 'done', done };
  const { attempted } = known;
  const taken = known.lapsed ? await takeOverRequest(engine.database, call.account, { key, attempted, by }) : undefined;
  if (taken === undefined)
    throw new Conflict(
      'running',
      'the first request with this Idempotency-Key is being carried out; ask again for its answer',
    );
  return begun(engine, { ...call, isRepeated: true }, key, taken);
}

/** What earlier attempts did; `answered` when the request has an answer by now. */
async function findDone(
  { database, planEnvironment }: Engine,
  account: string,
  key: string,
  since: number,
): Promise<Done | 'answered' | undefined> {
  const found = await findTraces(database, account, key, candidates(baseOf(account, key, since)));
  if (found?.answered === true) return 'answered';
  const { revision = null, sealed = null } = found ?? {};
  if (revision === null && sealed === null) return undefined;
  const open = (text: string) =>
    JSON.parse(planEnvironment.vault.open(text, sealPlaces.answer(account, key))) as ShownOnce;
  return { ...(revision === null ? {} : { revision }), ...(sealed === null ? {} : { once: open(sealed) }) };
}

async function noted(
  engine: Engine,
  account: string,
  request: { readonly key: string; readonly hash: string; readonly by: string },
): Promise<KnownRequest> {
  for (;;) {
    const known = await noteRequest(engine.database, account, request);
    if (known !== undefined) return known;
  }
}

function begun({ planEnvironment }: Engine, call: Call, key: string, { since, attempted }: Attempt): Begun {
  const { account } = call;
  const ids = candidates(baseOf(account, key, since));
  let at = 0;
  const requestId = (): string => {
    const id = ids[at] ?? `${ids[0]}.${at + 1}`;
    at += 1;
    return id;
  };
  const sealOnce = (values: ShownOnce): KeptValues => ({
    key,
    sealed: planEnvironment.vault.seal(JSON.stringify(values), sealPlaces.answer(account, key)),
  });
  return { state: 'begun', call: { ...call, requestId, sealOnce }, attempt: { since, attempted } };
}

/** What the commits of a request are called: by its key and when it came first, so that a repetition finds them. */
function baseOf(account: string, key: string, since: number): string {
  return `key-${sha256(`${account}\n${key}\n${since}`).slice(0, 40)}`;
}

/** A request may try more than once before it commits. */
function candidates(base: string): readonly string[] {
  return [base, ...[2, 3, 4, 5, 6, 7, 8].map((at) => `${base}.${at}`)];
}

function answerOf({ planEnvironment }: Engine, place: SealPlace, status: number, answer: Json | null): KeptAnswer {
  // Written by `keep` alone.
  const { sealed, headers = {}, body } = (answer ?? {}) as Partial<AnswerText> & { readonly sealed?: string };
  const shown = { status, headers, ...(body === undefined ? {} : { body }) };
  if (sealed === undefined) return shown;
  return { ...shown, once: JSON.parse(planEnvironment.vault.open(sealed, place)) as AnswerText };
}
