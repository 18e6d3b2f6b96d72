import { createFileMemory } from './file-memory.ts';
import { type ReadOptions, readDirectory } from './read-directory.ts';
import type { DirectorySnapshot } from './snapshot.ts';
import { watchDirectory } from './watch-directory.ts';

/** A directory, a ConfigMap mount or a single file as a source of documents. */
export interface DirectorySourceOptions {
  readonly path: string;
  readonly settleMs?: number;
  readonly pollMs?: number;
  /** Watching or delivering failed; a delivery is tried again at the next look. */
  readonly onError: (error: unknown) => void;
  readonly signal?: AbortSignal;
  /** Doors for tests. */
  readonly read?: ReadOptions;
}

/** Takes a snapshot; the next one waits until it is done. */
export type Deliver = (snapshot: DirectorySnapshot) => Promise<void> | void;

/**
 * Delivers what the directory holds: once at the start, then whenever its content or its availability changed. Events and
 * polls are hints; of a burst only the last state is delivered. Returns a function that stops it and waits for a delivery.
 */
export function createDirectorySource(options: DirectorySourceOptions, deliver: Deliver): () => Promise<void> {
  let stopped = options.signal?.aborted === true;
  let delivered: string | undefined;
  let wasMount = false;
  let available = true;
  const memory = createFileMemory();
  const look = async () => {
    const found = await readDirectory(options.path, { memory, ...options.read });
    wasMount ||= found.ok && found.isMount;
    const snapshot = found.ok && wasMount && !found.isMount ? unmounted(options.path) : found;
    available = snapshot.ok;
    const state = snapshot.ok ? snapshot.digest : snapshot.reason;
    if (stopped || state === delivered) return;
    delivered = undefined;
    await deliver(snapshot);
    delivered = state;
  };
  const looks = oneAtATime(look, options.onError);
  const stopWatching = watchDirectory({ ...options, onChange: looks.request, urgent: () => !available });
  const forbid = () => {
    stopped = true;
  };
  options.signal?.addEventListener('abort', forbid, { once: true });
  return async () => {
    stopped = true;
    options.signal?.removeEventListener('abort', forbid);
    await stopWatching();
    await looks.idle();
  };
}

/** The empty directory below a mount that went away must not be taken for a source that declares nothing. */
function unmounted(path: string): DirectorySnapshot {
  return {
    ok: false,
    reason: `"${path}" was a mount and is none now (it has no \`..data\`); mount it again, or restart.`,
  };
}

/** Runs a task when asked to, never twice at once; requests during a run make one further run. */
function oneAtATime(task: () => Promise<void>, onError: (error: unknown) => void) {
  let wanted = false;
  let running: Promise<void> | undefined;
  const run = async () => {
    while (wanted) {
      wanted = false;
      await task().catch(onError);
    }
    running = undefined;
  };
  return {
    request() {
      wanted = true;
      running ??= run();
    },
    idle: async () => running,
  };
}
