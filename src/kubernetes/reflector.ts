import { setTimeout as delay } from 'node:timers/promises';
import { type Backoff, pauseMs, plainBackoff } from './backoff.ts';
import type { Client } from './client.ts';
import { ApiError, reasonOf } from './errors.ts';
import { createOutage, type Outage } from './outage.ts';
import { isEarlier, nameOf, type Resource } from './resource.ts';

/** What a reflector knows at a moment. */
export type ReflectorState =
  /** Nothing was listed yet. */
  | { readonly state: 'starting' }
  /** What it holds is what the API server held a moment ago. */
  | { readonly state: 'synced' }
  /** The API server says nothing, or nothing good; what it holds may be old. */
  | { readonly state: 'failing'; readonly reason: string; readonly status: number | undefined };

/** One object before and after a change; not both are absent. */
export interface ResourceChange {
  readonly before?: Resource;
  readonly after?: Resource;
}

/** What a reflector follows, and who hears of it. */
export interface ReflectorOptions {
  readonly client: Pick<Client, 'list' | 'watch'>;
  /** Of a list, such as `/apis/heddle.dev/v1/policies`. */
  readonly path: string;
  /** What is kept of an object: it is held as long as the object is there. */
  readonly keep?: (object: Resource) => Resource;
  readonly onChange: (change: ResourceChange) => void;
  readonly onState: (state: ReflectorState) => void;
  /** A handler above threw. The reflector goes on. */
  readonly onError: (error: unknown) => void;
  readonly backoff?: Backoff;
  /** Of the API server; absent: no other reflector is known of. */
  readonly outage?: Outage | undefined;
}

/** The objects at a path as they are on the API server, kept up to date. */
export interface Reflector {
  /** By `namespace/name`. */
  readonly objects: ReadonlyMap<string, Resource>;
  readonly state: ReflectorState;
  /** The version of the API server's store up to which it knows all; absent before the first list. */
  readonly version: string | undefined;
  /** Ends it, and waits for that. */
  stop(): Promise<void>;
}

/**
 * Follows the objects at a path: lists them page by page and watches from there on. A watch that ends or breaks off is taken
 * up where it ended. When that is refused, or nobody answers, all is listed again and compared: an API server that was away
 * may be back with a store of another history, that of a backup, and leaves out of a watch what happens before that reaches
 * the place which the watch names. Nothing is taken for deleted because a list or a watch failed.
 */
export function startReflector(options: ReflectorOptions): Reflector {
  const { client, path, outage = createOutage() } = options;
  const ending = new AbortController();
  const store = createStore(options);
  const retries = createRetries(options.backoff ?? plainBackoff, ending.signal, outage);
  const state = createState(options, outage);
  let version = '';
  let step: Step = 'list';
  /** The API server accepted the watch. */
  let isWatching = false;

  const listAll = async (): Promise<void> => {
    const { found, resourceVersion } = await listPages(client, path, ending.signal);
    version = resourceVersion;
    step = 'watch';
    store.replace(found);
    state.enter({ state: 'synced' });
  };
  const follow = async (): Promise<void> => {
    const begun = performance.now();
    isWatching = false;
    try {
      const events = await client.watch(path, version, ending.signal);
      isWatching = true;
      state.enter({ state: 'synced' });
      for await (const event of events) {
        if (event.type !== 'BOOKMARK')
          store.set(nameOf(event.object), event.type === 'DELETED' ? undefined : event.object);
        version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
      }
    } finally {
      // A list alone does not end a series of failures: its watches may fail for ever.
      if (performance.now() - begun >= shortMs) retries.reset();
    }
    // A server that ends watches at once is not asked without a pause.
    if (performance.now() - begun < shortMs) await retries.wait();
  };
  const fail = async (error: unknown): Promise<void> => {
    const refusal = error instanceof ApiError ? error : undefined;
    step = stepAfter(step, error, isWatching && retries.count() < 2);
    // What passes by itself most of the time is no fault yet.
    const isFault = retries.count() > 0 || state.now().state === 'starting' || !mayPass(refusal);
    if (isFault) state.enter({ state: 'failing', reason: reasonOf(error), status: refusal?.status });
    await retries.wait(error);
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        if (step === 'list') await listAll();
        else if (step === 'compare') step = await compare(client, path, version, ending.signal);
        else await follow();
      } catch (error) {
        if (!ending.signal.aborted) await fail(error);
      }
    }
  };

  const running = run();
  return {
    objects: store.objects,
    get state() {
      return state.now();
    },
    get version() {
      return version === '' ? undefined : version;
    },
    async stop() {
      ending.abort();
      await running;
    },
  };
}

/** What a reflector does next. To compare is to find out whether the API server has come as far as what was seen. */
type Step = 'list' | 'compare' | 'watch';

function stepAfter(step: Step, error: unknown, mayGoOn: boolean): Step {
  if (step === 'list') return 'list';
  // One that stops says this too, and may be back with another store.
  if (error instanceof ApiError && error.status === 429) return 'compare';
  return step === 'watch' && mayGoOn && !(error instanceof ApiError) ? 'watch' : 'list';
}

async function compare(
  client: Pick<Client, 'list'>,
  path: string,
  version: string,
  signal: AbortSignal,
): Promise<Step> {
  const { resourceVersion } = await client.list(path, undefined, { signal, size: 1 });
  return isEarlier(resourceVersion, version) ? 'list' : 'watch';
}

function createState({ onState, onError }: Pick<ReflectorOptions, 'onState' | 'onError'>, outage: Outage) {
  let state: ReflectorState = { state: 'starting' };
  return {
    now: () => state,
    enter(next: ReflectorState): void {
      if (JSON.stringify(next) === JSON.stringify(state)) return;
      const isRecovered = state.state === 'failing' && next.state === 'synced';
      state = next;
      guard(() => onState(next), onError);
      if (isRecovered) outage.end();
    },
  };
}

/** All objects at a path, once the last page is there: half a list would be taken for the whole. */
async function listPages(client: Pick<Client, 'list'>, path: string, signal: AbortSignal) {
  const found = new Map<string, Resource>();
  let next: string | undefined;
  while (true) {
    const page = await client.list(path, next, { signal });
    for (const item of page.items) found.set(nameOf(item), item);
    next = page.next;
    if (next === undefined) return { found, resourceVersion: page.resourceVersion };
  }
}

/** A watch that ended so soon after it began did not end because its time was over. */
const shortMs = 1000;

function createStore({ keep = (object) => object, onChange, onError }: ReflectorOptions) {
  const objects = new Map<string, Resource>();
  const set = (name: string, found: Resource | undefined): void => {
    const before = objects.get(name);
    if (before?.metadata.resourceVersion === found?.metadata.resourceVersion) return;
    const after = found === undefined ? undefined : keep(found);
    if (after === undefined) objects.delete(name);
    else objects.set(name, after);
    guard(() => onChange({ ...(before && { before }), ...(after && { after }) }), onError);
  };
  return {
    objects,
    set,
    replace(found: ReadonlyMap<string, Resource>): void {
      for (const name of [...objects.keys()]) if (!found.has(name)) set(name, undefined);
      for (const [name, object] of found) set(name, object);
    },
  };
}

/** Whether a watch only broke off, cannot go on from so long ago, or has to wait. */
function mayPass(refusal: ApiError | undefined): boolean {
  return refusal === undefined || refusal.status === 410 || refusal.status === 429;
}

/** Waits after failures in a row. */
function createRetries(backoff: Backoff, ending: AbortSignal, outage: Outage) {
  let failures = 0;
  return {
    count: () => failures,
    reset(): void {
      failures = 0;
    },
    /** The failure may say how long to wait at the least; where nothing answered, the end of the outage ends the pause. */
    async wait(error?: unknown): Promise<void> {
      const milliseconds = pauseMs(backoff, failures, error);
      failures += 1;
      const isUnanswered = error !== undefined && !(error instanceof ApiError);
      const signal = isUnanswered ? AbortSignal.any([ending, outage.ended]) : ending;
      await delay(milliseconds, undefined, { signal }).catch(() => undefined);
    },
  };
}

/** What a handler throws does not end the reflector. */
function guard(handle: () => void, onError: (error: unknown) => void): void {
  try {
    handle();
  } catch (error) {
    onError(error);
  }
}
