import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from './client.ts';
import { ApiError, reasonOf } from './errors.ts';
import { nameOf, type Resource } from './resource.ts';

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
}

/** How long to wait after failures in a row: a random time up to a bound that doubles. */
export interface Backoff {
  readonly firstMs: number;
  readonly mostMs: number;
}

const plainBackoff: Backoff = { firstMs: 1000, mostMs: 30_000 };

/** The objects at a path as they are on the API server, kept up to date. */
export interface Reflector {
  /** By `namespace/name`. */
  readonly objects: ReadonlyMap<string, Resource>;
  readonly state: ReflectorState;
  /** Ends it, and waits for that. */
  stop(): Promise<void>;
}

/**
 * Follows the objects at a path: lists them page by page and watches from there on. A watch that ends is taken up where it
 * ended; when the API server does not know that place any more, all is listed again, and compared: nothing is taken for
 * deleted because a list or a watch failed.
 */
export function startReflector(options: ReflectorOptions): Reflector {
  const { client, path, onError } = options;
  const ending = new AbortController();
  const store = createStore(options);
  const retries = createRetries(options.backoff ?? plainBackoff, ending.signal);
  let state: ReflectorState = { state: 'starting' };
  /** From where to watch; absent: list first. */
  let version: string | undefined;

  const enter = (next: ReflectorState): void => {
    if (JSON.stringify(next) === JSON.stringify(state)) return;
    state = next;
    guard(() => options.onState(next), onError);
  };
  const listAll = async (): Promise<void> => {
    const found = new Map<string, Resource>();
    let next: string | undefined;
    do {
      const page = await client.list(path, next);
      for (const item of page.items) found.set(nameOf(item), item);
      next = page.next;
      if (next === undefined) version = page.resourceVersion;
    } while (next !== undefined);
    // Not before the last page: half a list would be taken for the whole.
    store.replace(found);
    enter({ state: 'synced' });
  };
  const follow = async (from: string): Promise<void> => {
    const begun = performance.now();
    try {
      const events = await client.watch(path, from, ending.signal);
      enter({ state: 'synced' });
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
    const isExpired = error instanceof ApiError && error.status === 410;
    // A store that was restored from a backup does not know later versions either, and says so in other ways.
    if (isExpired || (error instanceof ApiError && retries.count() >= 2)) version = undefined;
    // A watch that breaks off once, or that cannot go on from so long ago, is no fault yet.
    const isFault = retries.count() > 0 || state.state === 'starting' || (error instanceof ApiError && !isExpired);
    const status = error instanceof ApiError ? error.status : undefined;
    if (isFault) enter({ state: 'failing', reason: reasonOf(error), status });
    await retries.wait(error instanceof ApiError ? error.retryAfterMs : undefined);
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        if (version === undefined) await listAll();
        else await follow(version);
      } catch (error) {
        if (!ending.signal.aborted) await fail(error);
      }
    }
  };

  const running = run();
  return {
    objects: store.objects,
    get state() {
      return state;
    },
    async stop() {
      ending.abort();
      await running;
    },
  };
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

/** Waits after failures in a row. */
function createRetries({ firstMs, mostMs }: Backoff, signal: AbortSignal) {
  let failures = 0;
  return {
    count: () => failures,
    reset(): void {
      failures = 0;
    },
    /** The API server may say how long at the least, in milliseconds. */
    async wait(leastMs = 0): Promise<void> {
      const most = Math.min(mostMs, firstMs * 2 ** Math.min(failures, 20));
      failures += 1;
      await delay(leastMs + Math.random() * most, undefined, { signal }).catch(() => undefined);
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
