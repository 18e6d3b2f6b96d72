import type { ServeOptions } from '../../app/serve-options.ts';
import { parseSmtpUrl } from '../../config/people.ts';
import { type Config, environment, type FlagValues, readConfig } from '../../config.ts';
import * as kinds from '../../kinds/index.ts';
import { containsCertificates } from '../../lib/node-pure.ts';
import { createBufferedWriter, createLog, type Log } from '../../log.ts';
import { createRegistry } from '../../model/declare/registry.ts';
import { InvalidInput } from '../../model/errors.ts';
import type { StatedSource } from '../../model/sources/stated.ts';
import { readProxy } from '../../outbound/upstream-proxy.ts';
import { currentContext } from '../../telemetry/context.ts';
import { readOtel } from '../../telemetry/otel-settings.ts';
import { programVersion } from '../../version.ts';
import { type Command, defineCommand, type Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { valueVariables } from '../offline/values.ts';
import { readBootstrapToken, readOperatorToken, readSecretFile } from './given-tokens.ts';
import { readServerConfig } from './server-config.ts';

/** Starts a server. Passed in as a parameter, because `main.ts` composes the program. */
export type StartServer = (options: ServeOptions, log: Log) => Promise<RunningServer>;

interface RunningServer {
  readonly url: string;
  /** `false`: the server only answers why it is not ready. */
  readonly ready?: false;
  stop(graceMs?: number): Promise<void>;
}

/** Returns the command that runs the server. */
export function serveCommand(startServer: StartServer): Command {
  return defineCommand({ ...declaration, run: (invocation) => run(startServer, invocation) });
}

const declaration = {
  name: 'serve',
  summary: 'Run the server: apply directories of documents, keep watching them, and serve the API.',
  details:
    'The first start makes an account with a machine owner and writes its token to the file `token` in the data directory.',
  flags: {},
  settings: [
    ...([
      'sources',
      'listen',
      'databaseUrl',
      'dataDir',
      'log',
      'logLevel',
      'poolSize',
      'shutdownGraceMs',
      'waitForDatabaseMs',
    ] as const),
    ...([
      'bootstrapToken',
      'bootstrapTokenFile',
      'operatorToken',
      'operatorTokenFile',
      'operatorAccount',
      'preparedStatements',
      'openEndpoints',
    ] as const),
    ...([
      'configFile',
      'edition',
      'rateLimit',
      'planRateLimit',
      'pendingTenants',
      'secretKey',
      'secretKeyFile',
      'valuesDir',
    ] as const),
    ...([
      'shareValues',
      'valueGrants',
      'literalSecrets',
      'historyRevisions',
      'historyDays',
      'auditDays',
      'leaseSeconds',
      'gitTransports',
      'gitSources',
      'gitProcesses',
      'claimLapseSeconds',
    ] as const),
    ...(['profile', 'profileHeader', 'corsOrigins', 'trustProxy', 'metricsListen'] as const),
    ...(['proxyLogDays', 'trafficLogDays', 'geoDatabase'] as const),
    ...(['smtpUrl', 'smtpUrlFile', 'mailFrom', 'userDeleteFromIdp'] as const),
    ...(['idp', 'localAuthDisabled', 'publicUrl', 'idpRedirectUris', 'idpKeyRotation'] as const),
    ...(['oidcIssuer', 'oidcAudience', 'oidcClaims', 'oidcTrustEmail', 'singleAccount'] as const),
    ...(['outboundAllow', 'outboundCa', 'outboundGuard', 'directoryHosts', 'dnsServers'] as const),
  ],
  examples: [
    ['heddle serve --source examples/quickstart', 'Try Heddle with the embedded database'],
    [
      'heddle serve --source config --database-url postgres://heddle@db/heddle --listen 0.0.0.0:8080',
      'Run it on Postgres',
    ],
  ],
} as const satisfies Omit<Command, 'run'>;

type ServeInvocation = Invocation<(typeof declaration.settings)[number]>;

async function run(startServer: StartServer, { flags, config: given, terminal }: ServeInvocation): Promise<number> {
  const { config, sources } = await mergeSettingsFile(given, flags);
  const lines = createBufferedWriter(terminal.out);
  // The last log lines are written however the process ends.
  process.on('exit', lines.flush);
  try {
    const { log: format, logLevel: level } = config;
    const log = createLog({ format, level, write: lines.write, fields: requestFields });
    await serve(startServer, config, sources, log);
    return exit.ok;
  } finally {
    lines.flush();
    process.off('exit', lines.flush);
  }
}

/** Adds the request id to log lines, by which the lines of one request can be found. */
function requestFields() {
  return { request_id: currentContext().requestId };
}

/** Starts the server and runs it until the process receives a signal. */
async function serve(
  startServer: StartServer,
  config: ServeConfig,
  statedSources: readonly StatedSource[],
  log: Log,
): Promise<void> {
  // Keeps other users from reading keys, tokens, repositories and the files of the embedded database.
  const umask = process.umask(0o077);
  const {
    bootstrapToken: _,
    bootstrapTokenFile: __,
    shutdownGraceMs,
    databaseUrl,
    outboundGuard,
    outboundCa,
    ...options
  } = config;
  const bootstrapToken = await readBootstrapToken(config);
  const operatorToken = await readOperatorToken(config);
  const mail = await readMailOptions(config);
  const authorities = outboundCa === undefined ? undefined : await readAuthorities(outboundCa);
  const upstreamProxy = readProxy(environment, outboundGuard);
  if (outboundGuard === 'proxy' && upstreamProxy === undefined)
    throw new InvalidInput(
      'HEDDLE_OUTBOUND_GUARD is proxy, but HTTPS_PROXY names no proxy; set HTTPS_PROXY or unset HEDDLE_OUTBOUND_GUARD.',
    );
  const otel = readOtel(environment);
  if (otel !== undefined && 'faults' in otel) throw new InvalidInput(otel.faults.join(' '));
  const stop = waitForSignal(log);
  const database = databaseUrl === undefined ? {} : { databaseUrl };
  const bootstrap = bootstrapToken === undefined ? {} : { bootstrapToken };
  const server = await startServer(
    {
      ...options,
      ...database,
      ...bootstrap,
      ...mail,
      operatorToken,
      statedSources,
      gitEnvironment,
      ownCluster,
      upstreamProxy,
      otel,
      authorities,
      values: valueVariables(),
    },
    log,
  );
  log({
    level: 'info',
    message: `Heddle ${programVersion()} serves ${server.url}${server.ready === false ? ' (not ready)' : ''}`,
  });
  await stop;
  await stopWithinGrace(() => server.stop(shutdownGraceMs), shutdownGraceMs, log);
  process.umask(umask);
}

/**
 * Environment of git: the paths of programs and temporary files, and the trusted authorities. Git receives no other
 * variables.
 */
const gitEnvironment = Object.fromEntries(
  ['PATH', 'TMPDIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  }),
);

/** Kubernetes sets these variables in each pod to the address of its cluster's API server. */
const { KUBERNETES_SERVICE_HOST: clusterHost, KUBERNETES_SERVICE_PORT: clusterPort = '443' } = environment;
const ownCluster = clusterHost === undefined ? undefined : { host: clusterHost, port: clusterPort };

type ServeConfig = ServeInvocation['config'];

/**
 * Returns the settings with those of the settings file, where no flag and no variable sets them, and the sources of the
 * file.
 */
async function mergeSettingsFile(
  config: ServeConfig,
  flags: FlagValues,
): Promise<{ readonly config: ServeConfig; readonly sources: readonly StatedSource[] }> {
  if (config.configFile === undefined) return { config, sources: [] };
  const registry = createRegistry(Object.values(kinds));
  const names = registry.kinds.filter((kind) => kind.document.allowed).map((kind) => kind.name);
  const file = await readServerConfig(config.configFile, { kinds: names, transports: config.gitTransports });
  const read = readConfig(environment, flags, declaration.settings, file.settings);
  if (!read.ok) throw new InvalidInput(read.faults.join(' '));
  return { config: read.config, sources: file.sources };
}

/** Resolves at the first signal. A second signal ends the process at once. */
function waitForSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (asked) process.exit(exit.error);
      asked = true;
      log({ level: 'info', message: `${signal}: stopping; a second signal stops at once` });
      resolve();
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}

/** Waits until the server has stopped, but at most for the grace period. */
async function stopWithinGrace(stop: () => Promise<void>, graceMs: number, log: Log): Promise<void> {
  const stopped = stop().then(() => 'stopped' as const);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), graceMs);
  });
  const outcome = await Promise.race([stopped, late]);
  clearTimeout(timer);
  if (outcome === 'late')
    log({ level: 'warn', message: 'the grace period is over; work that is still running is aborted' });
  else log({ level: 'info', message: 'stopped' });
}

/** Returns the mail server, if one is configured. Its URL is checked before anything starts, and never printed. */
async function readMailOptions(
  config: Pick<Config, 'smtpUrl' | 'smtpUrlFile' | 'mailFrom'>,
): Promise<Pick<ServeOptions, 'mail'>> {
  const { smtpUrl, smtpUrlFile, mailFrom: from } = config;
  if (smtpUrl !== undefined && smtpUrlFile !== undefined)
    throw new InvalidInput('HEDDLE_SMTP_URL and HEDDLE_SMTP_URL_FILE are both set; keep one of them.');
  const url = smtpUrlFile === undefined ? smtpUrl : await readSecretFile('HEDDLE_SMTP_URL_FILE', smtpUrlFile);
  if (url === undefined) return {};
  const parsed = parseSmtpUrl(url);
  if ('fault' in parsed) throw new InvalidInput(`HEDDLE_SMTP_URL_FILE ${parsed.fault}.`);
  if (from === undefined)
    throw new InvalidInput('HEDDLE_MAIL_FROM is required with a mail server; set it to the sender of mails.');
  return { mail: { url, from } };
}

/**
 * Returns the certificates in a file. Throws when it contains none, because otherwise only the first failing request
 * would show that.
 */
async function readAuthorities(path: string): Promise<string> {
  const text = await readSecretFile('HEDDLE_OUTBOUND_CA', path);
  if (containsCertificates(text)) return text;
  throw new InvalidInput(
    `HEDDLE_OUTBOUND_CA names ${path}, which contains no certificates in PEM; name a file with the certificates of the authorities.`,
  );
}
