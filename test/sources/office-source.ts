import { onTestFinished } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import type { LeaseKeeper } from '../../src/db/leases/lease-keeper.ts';
import { createReader } from '../../src/documents/reader.ts';
import type { SourceDefinition } from '../../src/features/sources/definition.ts';
import type { Fetched, Origin } from '../../src/features/sources/files/origin.ts';
import { everyFile } from '../../src/features/sources/files/selection.ts';
import type { SourceReport } from '../../src/features/sources/loop/report.ts';
import { superviseSources } from '../../src/features/sources/loop/supervisor.ts';
import type { NamedSource } from '../../src/features/sources/names.ts';
import { sourceStatuses } from '../../src/features/sources/status.ts';
import type { SourceFile } from '../../src/model/document.ts';
import type { KubernetesConfig } from '../../src/model/sources/kubernetes.ts';
import type { SourceStatus } from '../../src/model/sources/status.ts';
import { newOffice, type Office, rowsOf } from '../commit/office.ts';

/** Documents that a test keeps in memory. */
export interface MemoryOrigin {
  readonly name: string;
  /** Number of reads so far. */
  reads: number;
  /** Delays reads until it resolves. */
  gate: Promise<void> | undefined;
  /** Replaces the documents, and reports the change unless `silently`. */
  put(text: string, how?: 'silently'): void;
  /** Makes the documents unreadable, and reports the change. */
  close(reason: string): void;
  open(): Origin;
}

/** Creates an origin with this text as its only file. */
export function newMemoryOrigin(name: string, text = ''): MemoryOrigin {
  let content: string | { readonly reason: string } = text;
  const watchers = new Set<() => void>();
  const read = (): Fetched => {
    if (typeof content !== 'string') return { ok: false, reason: content.reason };
    const files: readonly SourceFile[] = [{ path: `${name}.yaml`, text: content }];
    return { ok: true, files, digest: content, selection: everyFile, warnings: [] };
  };
  const publish = () => {
    for (const changed of watchers) changed();
  };
  return {
    name,
    reads: 0,
    gate: undefined,
    put(next, how) {
      content = next;
      if (how === undefined) publish();
    },
    close(reason) {
      content = { reason };
      publish();
    },
    open() {
      return {
        fetch: async () => {
          this.reads += 1;
          await this.gate;
          return read();
        },
        peek: async () => read(),
        watch(changed) {
          watchers.add(changed);
          return async () => {
            watchers.delete(changed);
          };
        },
      };
    },
  };
}

/** A server that runs sources. */
export interface SourceRunner {
  readonly engine: Engine;
  readonly reports: SourceReport[];
  /** Stops the sources, as SIGTERM does. */
  stop(): Promise<void>;
}

/** Options of a runner for its sources. */
export interface RunnerOptions {
  readonly intervalMs?: number;
  readonly leaseSeconds?: number;
  /** Renews its leases outside the main thread. Absent: they are not renewed there. */
  readonly leases?: LeaseKeeper;
  readonly burst?: number;
  readonly probeMs?: number;
  readonly slowMs?: number;
  /** Called whenever the status of a source was recorded. */
  readonly noted?: () => void;
  readonly version?: string;
  readonly type?: string;
  readonly spec?: SourceDefinition['spec'];
  /** Directories that name their sources themselves. */
  readonly directories?: readonly NamedSource[];
  /** Kubernetes clusters of the office's account. */
  readonly clusters?: readonly KubernetesConfig[];
}

/** Runs origins as sources of the office's account. By default, the interval is an hour and retries take 5 to 20 ms. */
function runSources(
  office: Office,
  engine: Engine,
  origins: readonly MemoryOrigin[],
  options: RunnerOptions = {},
): SourceRunner {
  const reports: SourceReport[] = [];
  const reader = createReader({ maxInlineCharacters: 64 * 1024 });
  const { intervalMs = 3_600_000, leaseSeconds = 30, burst = 20, probeMs = 3_600_000, version = 'test' } = options;
  const { slowMs = 1000 } = options;
  const definitions = origins.map(
    (origin): SourceDefinition => ({
      account: office.account,
      name: origin.name,
      type: options.type ?? 'memory',
      spec: options.spec ?? {},
      isConfigured: true,
      intervalMs,
      delayMs: 0,
      ...(options.noted && { onStatusRecorded: options.noted }),
      open: () => origin.open(),
    }),
  );
  const timing = { burst, firstRetryMs: 5, lastRetryMs: 20, probeMs, slowMs };
  const publish = (report: SourceReport) => void reports.push(report);
  const end = superviseSources({
    engine,
    reader,
    definitions,
    leaseSeconds,
    version,
    timing,
    report: publish,
    pollMs: 20,
    ...(options.leases === undefined ? {} : { leases: options.leases }),
    directories: (options.directories ?? []).map((source) => ({ account: office.account, source })),
    clusters: (options.clusters ?? []).map((config) => ({ account: office.account, config, ownCluster: undefined })),
  });
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= end().then(() => reader.close());
    return ended;
  };
  return { engine, reports, stop };
}

/** Opens an office for the current test. When the test ends, its runners are stopped before the office is closed. */
export async function openSampleAccount(name: 'postgres' | 'embedded' = 'postgres') {
  const office = await newOffice(name);
  const runners: SourceRunner[] = [];
  onTestFinished(async () => {
    for (const runner of runners) await runner.stop();
    await office[Symbol.asyncDispose]();
  });
  return {
    ...office,
    run(origins: readonly MemoryOrigin[], options: RunnerOptions & { readonly engine?: Engine } = {}): SourceRunner {
      const runner = runSources(office, options.engine ?? office.engine, origins, options);
      runners.push(runner);
      return runner;
    },
    /** Returns the status of a source, or an empty object when it has none. */
    async statusOf(source: string): Promise<Partial<SourceStatus>> {
      const found = (await sourceStatuses(office.engine, office.call)).find(({ id }) => id === source);
      return (found?.['status'] ?? {}) as Partial<SourceStatus>;
    },
    /** Returns the keys of the groups that documents created, sorted. */
    async groups(): Promise<readonly string[]> {
      const state = await office.engine.snapshots.fresh(office.account);
      return state
        .ofKind('Group')
        .flatMap(({ key }) => key ?? [])
        .sort();
    },
    rows: (sql: string) => rowsOf(office.database, sql),
  };
}

/** Returns groups as YAML documents. */
export function groups(...keys: readonly string[]): string {
  return keys
    .map((key) => `apiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: ${key}}\nspec: {}\n`)
    .join('---\n');
}
