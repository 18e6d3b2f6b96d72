import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createMetricsServer } from './api/metrics/metrics.ts';
import { createApi } from './api/server.ts';
import { settingsOfApi } from './app/api-settings.ts';
import { diskLine } from './app/disk.ts';
import { createEngine, describeError, environmentOfKeys, firstObjects, productRegistry } from './app/engine.ts';
import {
  authenticatorOf,
  installationOf,
  localPeopleOf,
  openIdentityProvider,
  toReachableUrl,
} from './app/identity.ts';
import { createIntegrations } from './app/integrations.ts';
import { listenOrExplain, requireListenable } from './app/listening.ts';
import { connectNotices } from './app/notices.ts';
import { openOutbound } from './app/outbound.ts';
import { createMachines } from './app/peering.ts';
import { listenUnready, watchSealing } from './app/sealing.ts';
import type { ServeOptions } from './app/serve-options.ts';
import { configureSources, type OperatorAccount, valuePolicyOf } from './app/sources.ts';
import { openTelemetry, tracedBy } from './app/telemetry.ts';
import { isTransient, waitForDatabase } from './app/wait-for-database.ts';
import type { Engine } from './commit/engine.ts';
import { type Database, type DatabaseOptions, openDatabase } from './db/database.ts';
import { toDamageError } from './db/embedded/data-directory.ts';
import { type LeaseKeeper, openLeaseKeeper } from './db/leases/lease-keeper.ts';
import { endLeases } from './db/leases/leases.ts';
import { migrate } from './db/migrate.ts';
import { readKeys } from './db/sealing/keys.ts';
import { checkKey } from './db/sealing/sealing.ts';
import { WrongKey } from './db/sealing/wrong-key.ts';
import { refusalOf } from './db/unusable-database.ts';
import { createReader } from './documents/reader.ts';
import { createTokenUses } from './features/auth/authenticate.ts';
import { ensureMachineOwner, watchMachineToken } from './features/auth/bootstrap.ts';
import { ensureOperatorToken } from './features/auth/operator.ts';
import type { IdentityProvider } from './features/auth/provider/provider.ts';
import { startUpkeep } from './features/config/background.ts';
import { runLapseLoop } from './features/config/overrides/lapses.ts';
import { type FeedRetention, runLogLoop } from './features/logs/maintenance.ts';
import { installSources } from './features/sources/installation.ts';
import { reporter } from './features/sources/loop/report.ts';
import { superviseSources } from './features/sources/loop/supervisor.ts';
import { readNamedSources } from './features/sources/names.ts';
import { createValueLookup } from './features/sources/values.ts';
import type { DnsLookups } from './lib/net/dns-lookups.ts';
import type { Log } from './log.ts';
import type { PlanEnvironment } from './model/declare/plan-environment.ts';
import type { ValuePolicy } from './model/schema/value-policy.ts';
import { createDnsLookups } from './outbound/dns.ts';
import { programVersion } from './version.ts';

export { createEngine, firstObjects, productRegistry } from './app/engine.ts';

/** A running server that listens. */
export interface RunningServer {
  readonly url: string;
  readonly engine: Engine;
  /** The operator's account. Absent: none is configured. */
  readonly account: string | undefined;
  /** Absent: the embedded identity provider is off. */
  readonly identityProvider?: IdentityProvider | undefined;
  /** Stops accepting requests, waits for those in progress, and closes everything. */
  stop(): Promise<void>;
}

/**
 * Maximum number of connections that wait to be accepted, if the system allows as many. Thousands of agents connect at
 * the same moment when a server is back. A refused agent tries again after a second, and then after twice that time.
 */
const listenBacklog = 16_384;

/** Functions that close parts of the server, in the order in which they are called. */
type Closing = (() => Promise<unknown>)[];

function createDefectReporter(log: Log): (error: unknown, operation: string) => void {
  return (error, operation) => log({ level: 'error', message: `defect at ${operation}: ${describeError(error)}` });
}

/** Starts a server. Without the key of the installation, the server only answers every request with the reason. */
export async function serve(
  options: ServeOptions,
  log: Log,
): Promise<Pick<RunningServer, 'url' | 'stop'> & { readonly ready?: false }> {
  const { databaseUrl, dataDir, waitForDatabaseMs } = options;
  const begun = performance.now();
  for (;;) {
    const left = waitForDatabaseMs - (performance.now() - begun);
    try {
      return await startServer({ ...options, waitForDatabaseMs: Math.max(0, left) }, log);
    } catch (error) {
      if (error instanceof WrongKey) return listenUnready(options.listen, error, log);
      if (databaseUrl === undefined) throw toDamageError(dataDir, error);
      // The database answered and went away again. The start is repeated, and finds everything that it has written so
      // far.
      if (left <= 0 || !isTransient(error) || performance.now() - begun >= waitForDatabaseMs)
        throw refusalOf(error) ?? error;
      log({
        level: 'warn',
        message: `the database became unreachable during the start, which begins again: ${error.message}`,
      });
    }
    await delay(restartMs);
  }
}

/** Pause between two starts, in milliseconds. */
const restartMs = 500;

/** Opens the database, migrates it, starts the sources and listens. */
export async function startServer(options: ServeOptions, log: Log): Promise<RunningServer> {
  const named = await readNamedSources(options.sources);
  await requireAddresses(options);
  const operator: OperatorAccount = {};
  const policy = valuePolicyOf(options, operator);
  const planEnvironment = await readEnvironment(options, policy);
  const telemetry = await openTelemetry(options, log);
  const database = tracedBy(telemetry, await openDatabase(databaseOf(options, log)));
  const closing: Closing = [() => database.close(), async () => telemetry?.stop()];
  try {
    const registry = productRegistry(installationOf(options));
    await prepareDatabase(database, options, log, () => checkKey(database, registry, planEnvironment.vault));
    const { notices, close } = connectNotices(options.databaseUrl);
    closing.unshift(close);
    const { claimLapseSeconds, passwordCost } = options;
    const given = { planEnvironment, notices, claimLapse: claimLapseSeconds, passwordCost, tracer: telemetry?.tracer };
    const engine = createEngine({ database, log, kinds: registry, ...given, dns: dnsOf(options) });
    const onDefect = createDefectReporter(log);
    closing.unshift(watchSealing(engine, onDefect), () => engine.committer.settle());
    const reader = createReader();
    closing.unshift(() => reader.close());
    const report = (level: 'info' | 'warn' | 'error', message: string) => log({ level, message });
    const { account, operatorToken } = await openAccount(engine, options, report, closing);
    operator.account = account;
    const outbound = openOutbound(engine, options, { closing, report });
    const around = { account, outbound, policy, report };
    const sources = installSources(engine, account, await configureSources(database, named, options, around));
    const uses = createTokenUses(database, { now: Date.now });
    closing.unshift(() => uses.close());
    let listening = '';
    const localPeople = await localPeopleOf(options, () => listening);
    closing.unshift(async () => localPeople.mailer?.close());
    const identityProvider = openIdentityProvider(engine, options, onDefect, localPeople);
    const leases = openLeases(options, log, closing);
    const integrations = await createIntegrations(engine, options, { outbound, closing, report, ...leases });
    const machines = createMachines(engine, options.geoDatabase, { onDefect, log, closing, leases: leases.leases });
    const api = await createApi({
      engine,
      reader,
      localPeople,
      authenticator: authenticatorOf(engine, { uses, outbound }, { ...options, operatorToken }, identityProvider),
      ...settingsOfApi(options),
      sources: sources.rules,
      ...integrations.services,
      feedDays: feedRetentionOf(options),
      identityProvider,
      ...machines.services,
      logAccess: log,
      report: onDefect,
    });
    closing.unshift(() => api.close());
    telemetry?.exportMetrics(() => api.snapshotMetrics());
    const url = await listen(api, options, { log, closing });
    listening = toReachableUrl(url);
    if (identityProvider !== undefined) closing.unshift(identityProvider.run());
    closing.unshift(runLapseLoop({ engine, report }), machines.run(), integrations.run());
    const running = { ...sources, engine, reader, ...leases, version: programVersion() };
    closing.unshift(superviseSources({ ...running, report: reporter(log) }));
    closing.unshift(startHistoryLoop(engine, options, log), startLogLoop(engine, options, log));
    return { url, engine, account, identityProvider, stop: () => closeAll(closing) };
  } catch (error) {
    await closeAll(closing);
    throw error;
  }
}

/**
 * Ensures that the machine owner and the operator's token exist, and watches the token of the machine owner. Returns
 * the operator's account and token; each is `undefined` when there is none.
 */
async function openAccount(
  engine: Engine,
  { dataDir, bootstrapToken: token, operatorAccount, operatorToken: given }: ServeOptions,
  report: (level: 'info' | 'warn', message: string) => void,
  closing: Closing,
): Promise<{ readonly account: string | undefined; readonly operatorToken: string | undefined }> {
  const objects = firstObjects(engine);
  const owned = await ensureMachineOwner(engine, { dataDir, token, operatorAccount, firstObjects: objects, report });
  if (owned !== undefined) closing.unshift(watchMachineToken(engine, owned.account, { report, now: Date.now }));
  const operatorToken = await ensureOperatorToken({ dataDir, token: given, report });
  return { account: owned?.account, operatorToken };
}

/** Checks that the server will be able to listen, before anything is created. */
async function requireAddresses({ listen, metricsListen }: ServeOptions): Promise<void> {
  await requireListenable(listen, '--listen');
  if (metricsListen !== undefined) await requireListenable(metricsListen, 'HEDDLE_METRICS_LISTEN');
}

/**
 * Starts the renewal of the leases of sources and of connected peers. An embedded database has only one server, so no
 * server waits for the end of a lease.
 */
function openLeases(
  options: ServeOptions,
  log: Log,
  closing: Closing,
): { readonly leaseSeconds: number; readonly leases?: LeaseKeeper } {
  const { databaseUrl: url, preparedStatements } = options;
  if (url === undefined) return { leaseSeconds: Math.max(options.leaseSeconds, embeddedLeaseSeconds) };
  const failed = (error: unknown) =>
    log({
      level: 'error',
      message: `the thread that renews leases is not running; the main thread renews them until it can be started: ${describeError(error)}`,
    });
  const leases = openLeaseKeeper({ database: { url, preparedStatements }, onFailure: failed });
  closing.unshift(() => leases.close());
  return { leaseSeconds: options.leaseSeconds, leases };
}

const embeddedLeaseSeconds = 3600;

function dnsOf({ dnsServers: servers }: ServeOptions): DnsLookups {
  return createDnsLookups({ servers });
}

function databaseOf({ databaseUrl, dataDir, poolSize, preparedStatements }: ServeOptions, log: Log): DatabaseOptions {
  const diskChanged = (isFull: boolean) => log(diskLine(isFull));
  if (databaseUrl !== undefined) return { url: databaseUrl, poolSize, preparedStatements, onDiskChange: diskChanged };
  const message = `first start: creating the embedded database in ${dataDir}, which takes a few seconds`;
  return { dataDir, onCreate: () => log({ level: 'info', message }), onDiskChange: diskChanged };
}

/** Runs the migrations, and checks the stored data before anything else is written. */
async function prepareDatabase(
  database: Database,
  { databaseUrl, waitForDatabaseMs }: ServeOptions,
  log: Log,
  check: () => Promise<void>,
): Promise<void> {
  if (databaseUrl !== undefined) await waitForDatabase(database, waitForDatabaseMs, log);
  const applied = await migrate(database, { onWaiting: (message) => log({ level: 'warn', message }) });
  const steps = applied.length === 1 ? '1 migration' : `${applied.length} migrations`;
  if (applied.length > 0) log({ level: 'info', message: `the database is at ${applied.at(-1)} after ${steps}` });
  await check();
  await endLeases(database);
}

/** Starts listening for the interface, and for metrics on a separate address. Returns the URL of the interface. */
async function listen(
  api: Parameters<typeof createMetricsServer>[0],
  options: ServeOptions,
  { log, closing }: { readonly log: Log; readonly closing: Closing },
): Promise<string> {
  const { listen: address, metricsListen } = options;
  const url = await listenOrExplain(address, '--listen', () => api.listen({ ...address, backlog: listenBacklog }));
  if (metricsListen !== undefined) closing.unshift(await openMetrics(api, metricsListen, log));
  return url;
}

/** Serves metrics on a separate address. Returns a function that stops it. */
async function openMetrics(
  api: Parameters<typeof createMetricsServer>[0],
  address: NonNullable<ServeOptions['metricsListen']>,
  log: Log,
): Promise<() => Promise<unknown>> {
  const metrics = createMetricsServer(api);
  log({ level: 'info', message: `metrics are served at ${await metrics.listen(address)}/metrics` });
  return () => metrics.close();
}

/** Returns the environment for plans that the options describe. */
async function readEnvironment(options: ServeOptions, policy: ValuePolicy): Promise<PlanEnvironment> {
  const { secretKey, secretKeyFile, edition, literalSecrets, userDeleteFromIdp, publicUrl } = options;
  const dataDir = options.databaseUrl === undefined ? options.dataDir : undefined;
  const keys = await readKeys({ secretKey, secretKeyFile, dataDir });
  return {
    // The form of sealing that this server may use is read from the database.
    ...environmentOfKeys(keys, 'unbound'),
    edition,
    random: (bytes) => randomBytes(bytes),
    valueFrom: createValueLookup(options),
    mayUse: policy.mayUse,
    literalSecrets,
    deletesIdpUsers: userDeleteFromIdp,
    ...(publicUrl === undefined ? {} : hostAndPortOf(new URL(publicUrl))),
  };
}

function hostAndPortOf({ hostname, port, protocol }: URL) {
  const usual = protocol === 'https:' ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usual : Number(port) };
}

function feedRetentionOf({
  proxyLogDays,
  trafficLogDays,
}: Pick<ServeOptions, 'proxyLogDays' | 'trafficLogDays'>): FeedRetention {
  return { proxy: proxyLogDays, traffic: trafficLogDays };
}

/** Compacts old history and runs access tests, in a loop. Returns a function that stops it. */
function startHistoryLoop(
  engine: Engine,
  { historyRevisions: revisions, historyDays: days }: Pick<ServeOptions, 'historyRevisions' | 'historyDays'>,
  log: Log,
): () => Promise<void> {
  return startUpkeep(engine, { revisions, days }, (level, what, error) =>
    log({ level, message: `${what}: ${describeError(error)}` }),
  );
}

/** Deletes log records that are older than the settings allow, in a loop. Returns a function that stops it. */
function startLogLoop(
  engine: Engine,
  options: Pick<ServeOptions, 'proxyLogDays' | 'trafficLogDays' | 'auditDays'>,
  log: Log,
): () => Promise<void> {
  return runLogLoop({
    engine,
    retention: feedRetentionOf(options),
    auditDays: options.auditDays,
    now: Date.now,
    failed: (what, error) => log({ level: 'warn', message: `${what}: ${describeError(error)}` }),
  });
}

async function closeAll(closing: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const close of closing) await close();
}
