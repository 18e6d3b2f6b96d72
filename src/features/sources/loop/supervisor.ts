import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ClaimRefresher } from '../../../commit/engine.ts';
import { equalJson } from '../../../lib/json.ts';
import type { SourceDefinition } from '../definition.ts';
import { type ConfiguredDirectory, followDirectories } from '../directory/directory-sources.ts';
import type { ConfiguredCluster } from '../installation.ts';
import { followCluster } from '../kubernetes/cluster-sources.ts';
import { type CalledSource, listScheduledSources } from '../scheduled-sources.ts';
import type { SourceFeed } from '../source-feed.ts';
import { processClock } from './loop.ts';
import { type RunnerOptions, SourceRunner } from './runner.ts';

/** Sources that a server runs, and how it runs them. */
export interface SupervisorOptions extends Omit<RunnerOptions, 'owner' | 'clock'> {
  /** The sources of the server's configuration. */
  readonly definitions: readonly SourceDefinition[];
  /** Directories that name their sources themselves. */
  readonly directories?: readonly ConfiguredDirectory[];
  /** Clusters, whose sources appear and disappear. */
  readonly clusters?: readonly ConfiguredCluster[];
  /**
   * Returns the definition of a recorded source that is not in the configuration, or `undefined` when this server does
   * not run it.
   */
  readonly define?: (recorded: CalledSource) => SourceDefinition | undefined;
  /** Interval at which the server looks for requests to sources when no notice arrives, in milliseconds. */
  readonly pollMs?: number;
}

const defaultPollMs = 1000;

/**
 * Runs sources while this server has their leases. Any number of servers may supervise the same sources. Returns a
 * function that stops all of them, waits for running reconciles, and gives the leases back.
 */
export function superviseSources(options: SupervisorOptions): () => Promise<void> {
  const { engine, definitions, directories = [], clusters = [], report } = options;
  // For people who look at the lease. The random part makes it unique.
  const owner = `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`;
  const feeds = [
    followDirectories({ engine, directories, configured: definitions, report }),
    ...clusters.map((cluster) => followCluster({ ...options, ...cluster, owner })),
  ];
  const runners = new Map<string, SourceRunner>();
  const ending = new Set<Promise<void>>();
  const start = (definition: SourceDefinition) =>
    runners.set(sourceKeyOf(definition), new SourceRunner({ ...options, owner, clock: processClock }, definition));
  const end = (name: string, runner: SourceRunner): void => {
    runners.delete(name);
    const ended = runner.stop();
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  };
  /** Starts, restarts and stops runners so that they match the current definitions. */
  const follow = (called: ReadonlyMap<string, CalledSource>): void => {
    const desired = currentDefinitions(options, feeds, called);
    for (const [name, runner] of runners) {
      const definition = desired.get(name);
      if (definition === undefined || !isSame(definition, runner.definition)) end(name, runner);
    }
    for (const [name, definition] of desired) {
      // Only sources that start together with the server need a delay.
      if (!runners.has(name)) start(isFirst ? definition : { ...definition, delayMs: 0 });
    }
  };
  let isFirst = true;
  const look = async (): Promise<void> => {
    const called = new Map((await listScheduledSources(engine)).map((source) => [recordedSourceKeyOf(source), source]));
    follow(called);
    isFirst = false;
    for (const [name, runner] of runners) runner.update(called.get(name));
  };
  const looks = runRepeatedly(look, options.pollMs ?? defaultPollMs, (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    report({ level: 'error', message: `sources: ${reason}; it is tried again` });
  });
  const unlisten = [
    engine.notices.on(({ what }) => (what === 'sources' ? looks.now() : undefined)),
    engine.notices.onMissed(() => looks.now()),
    ...feeds.map((feed) => feed.onChange(() => looks.now())),
  ];
  const others = (account: string, deleting: string): readonly SourceRunner[] =>
    [...runners.values()].filter(({ definition: { account: own, name } }) => own === account && name !== deleting);
  const refresher: ClaimRefresher = {
    isConcerned: (account, deleting) => others(account, deleting).length > 0,
    async refresh(account, deleting) {
      await Promise.all(others(account, deleting).map((runner) => runner.refreshClaims()));
    },
  };
  engine.claimRefreshers.add(refresher);

  return async () => {
    for (const stop of unlisten) stop();
    engine.claimRefreshers.delete(refresher);
    await looks.stop();
    await Promise.all([...[...runners.values()].map((runner) => runner.stop()), ...ending]);
    await Promise.all(feeds.map((feed) => feed.stop()));
  };
}

/**
 * Returns the current definitions: those of the configuration, those of its clusters, and those of all other recorded
 * sources.
 */
function currentDefinitions(
  { definitions, define }: Pick<SupervisorOptions, 'definitions' | 'define'>,
  feeds: readonly SourceFeed[],
  called: ReadonlyMap<string, CalledSource>,
): ReadonlyMap<string, SourceDefinition> {
  const recorded = [...called.values()];
  const configured = [...definitions, ...feeds.flatMap((feed) => feed.definitions(recorded))];
  const found = new Map(configured.map((definition) => [sourceKeyOf(definition), definition]));
  for (const [name, source] of called) {
    const definition = found.has(name) ? undefined : define?.(source);
    if (definition !== undefined) found.set(name, definition);
  }
  return found;
}

/** Whether two definitions of a source are the same. */
function isSame(a: SourceDefinition, b: SourceDefinition): boolean {
  return a.opening === b.opening && equalJson(a.spec, b.spec);
}

function sourceKeyOf({ account, name }: SourceDefinition): string {
  return `${account}/${name}`;
}

function recordedSourceKeyOf({ account, id }: CalledSource): string {
  return `${account}/${id}`;
}

/** Repeats the work every `everyMs`, and at once on request. An error that persists is reported once. */
function runRepeatedly(work: () => Promise<void>, everyMs: number, failed: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isDue = false;
  let stopped = false;
  let reported = '';
  const run = async (): Promise<void> => {
    do {
      isDue = false;
      try {
        await work();
        reported = '';
      } catch (error) {
        if (String(error) !== reported) failed(error);
        reported = String(error);
      }
    } while (isDue && !stopped);
    running = undefined;
    if (!stopped) timer = setTimeout(now, everyMs);
  };
  const now = (): void => {
    clearTimeout(timer);
    isDue = true;
    if (!stopped) running ??= run();
  };
  now();
  return {
    now,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
