import { setTimeout as delay } from 'node:timers/promises';
import { type Backoff, defaultBackoff, pauseMs } from './backoff.ts';
import type { Client } from './client.ts';
import { ApiError, reasonOf } from './errors.ts';
import { createOutage, type Outage } from './outage.ts';
import { isEarlier, nameOf, type Resource } from './resource.ts';

/** State of a reflector. */
export type ReflectorState =
  /** No list has succeeded yet. */
  | { readonly state: 'starting' }
  /** The objects are the same as on the API server a moment ago. */
  | { readonly state: 'synced' }
  /** The API server does not answer, or answers with errors. The objects may be outdated. */
  | { readonly state: 'failing'; readonly reason: string; readonly status: number | undefined };

/** One object before and after a change. At least one of them is present. */
export interface ResourceChange {
  readonly before?: Resource;
  readonly after?: Resource;
}

/** Objects that a reflector follows, and the callbacks for changes. */
export interface ReflectorOptions {
  readonly client: Pick<Client, 'list' | 'watch'>;
  /** Path of a list, such as `/apis/heddle.dev/v1/policies`. */
  readonly path: string;
  /** Reduces an object to the part to store. This part stays in memory as long as the object exists. */
  readonly keep?: (object: Resource) => Resource;
  readonly onChange: (change: ResourceChange) => void;
  readonly onState: (state: ReflectorState) => void;
  /** Called when `onChange` or `onState` threw. The reflector continues. */
  readonly onError: (error: unknown) => void;
  readonly backoff?: Backoff;
  /** Outage state of the API server. Absent: not shared with other reflectors. */
  readonly outage?: Outage | undefined;
}

/** A copy of the objects at a path on the API server, kept up to date. */
export interface Reflector {
  /** Objects by `namespace/name`, or `name` for objects without a namespace. */
  readonly objects: ReadonlyMap<string, Resource>;
  readonly state: ReflectorState;
  /** Version of the API server's store up to which the objects are complete. Absent before the first list. */
  readonly version: string | undefined;
  /** Stops the reflector. Resolves when it has stopped. */
  stop(): Promise<void>;
}

/**
 * Follows the objects at a path: lists them page by page, and watches from the version of the list. A watch that ends
 * or breaks off is continued from the last version. When the API server refuses this, or does not answer, all objects
 * are listed again and compared. After an outage, the API server may run with a store that was restored from a backup
 * and has another history. Its watches would leave out all changes until the store reaches the version that the watch
 * names. Objects are never considered deleted because a list or a watch failed.
 */
export function startReflector(options: ReflectorOptions): Reflector {
  const { client, path, outage = createOutage() } = options;
  const ending = new AbortController();
  const store = createStore(options);
  const retries = createRetries(options.backoff ?? defaultBackoff, ending.signal, outage);
  const state = createState(options, outage);
  let version = '';
  let step: Step = 'list';
  /** True once the API server has accepted the current watch. */
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
      // A successful list alone does not reset the failures: the watches after it may fail every time.
      if (performance.now() - begun >= minWatchMs) retries.reset();
    }
    // Without this pause, an API server that ends every watch at once would be queried in a tight loop.
    if (performance.now() - begun < minWatchMs) await retries.wait();
  };
  const fail = async (error: unknown): Promise<void> => {
    const refusal = error instanceof ApiError ? error : undefined;
    step = stepAfter(step, error, isWatching && retries.count() < 2);
    // A first failure that usually resolves itself is not reported as a fault.
    const isFault = retries.count() > 0 || state.now().state === 'starting' || !isTransient(refusal);
    if (isFault) state.enter({ state: 'failing', reason: reasonOf(error), status: refusal?.status });
    await retries.wait(error);
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        if (step === 'list') await listAll();
        else if (step === 'compare') step = await compareVersion(client, path, version, ending.signal);
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

/** Next step of a reflector. `compare` checks whether the store of the API server has reached the version seen last. */
type Step = 'list' | 'compare' | 'watch';

function stepAfter(step: Step, error: unknown, mayGoOn: boolean): Step {
  if (step === 'list') return 'list';
  // An API server that shuts down also answers 429, and may come back with another store.
  if (error instanceof ApiError && error.status === 429) return 'compare';
  return step === 'watch' && mayGoOn && !(error instanceof ApiError) ? 'watch' : 'list';
}

async function compareVersion(
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
      runHandler(() => onState(next), onError);
      if (isRecovered) outage.end();
    },
  };
}

/**
 * Returns all objects at a path. Returns only after the last page: a partial list would be taken for the complete list.
 */
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

/** Minimum duration of a normal watch, in milliseconds. A shorter watch did not end because its time was over. */
const minWatchMs = 1000;

function createStore({ keep = (object) => object, onChange, onError }: ReflectorOptions) {
  const objects = new Map<string, Resource>();
  const set = (name: string, found: Resource | undefined): void => {
    const before = objects.get(name);
    if (before?.metadata.resourceVersion === found?.metadata.resourceVersion) return;
    const after = found === undefined ? undefined : keep(found);
    if (after === undefined) objects.delete(name);
    else objects.set(name, after);
    runHandler(() => onChange({ ...(before && { before }), ...(after && { after }) }), onError);
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

/**
 * Whether a failure usually resolves itself: the watch broke off, its version is too old (410), or the client must wait
 * (429).
 */
function isTransient(refusal: ApiError | undefined): boolean {
  return refusal === undefined || refusal.status === 410 || refusal.status === 429;
}

/** Counts consecutive failures, and waits after each of them. */
function createRetries(backoff: Backoff, ending: AbortSignal, outage: Outage) {
  let failures = 0;
  return {
    count: () => failures,
    reset(): void {
      failures = 0;
    },
    /**
     * Waits after a failure, which may state a minimum. If the API server did not answer, the end of the outage ends
     * the pause.
     */
    async wait(error?: unknown): Promise<void> {
      const milliseconds = pauseMs(backoff, failures, error);
      failures += 1;
      const isUnanswered = error !== undefined && !(error instanceof ApiError);
      const signal = isUnanswered ? AbortSignal.any([ending, outage.ended]) : ending;
      await delay(milliseconds, undefined, { signal }).catch(() => undefined);
    },
  };
}

/** Runs a handler. Passes its error to `onError`, so that the reflector continues. */
function runHandler(handle: () => void, onError: (error: unknown) => void): void {
  try {
    handle();
  } catch (error) {
    onError(error);
  }
}
