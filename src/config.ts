import { delimiter } from 'node:path';
import { type GitSettings, gitSettings } from './config/git.ts';
import { type IdpConfig, idpSettings } from './config/idp.ts';
import { type OidcConfig, oidcSettings } from './config/oidc.ts';
import { type OperatorConfig, operatorSettings } from './config/operator.ts';
import { type OutboundConfig, outboundSettings } from './config/outbound.ts';
import {
  openableEndpoints,
  type Parsed,
  parseClaimLapse,
  parseCount,
  parseDatabaseUrl,
  parseEndpoints,
  parseGrace,
  parseLease,
  parseListen,
  parseOrigins,
  parseProxies,
  parseRateLimit,
  parseServer,
  parseSwitch,
} from './config/parse.ts';
import { type PeopleConfig, peopleSettings } from './config/people.ts';
import { type ProfileConfig, profileSettings } from './config/profile.ts';
import { type RetentionConfig, retentionSettings } from './config/retention.ts';
import { type ValuesConfig, valueSettings } from './config/values.ts';
import { type LogLevel, logLevels } from './log.ts';
import type { Edition } from './model/edition.ts';
import type { RateLimit } from './model/rate-limit.ts';

/** All settings that flags, environment variables and the settings file can set. */
export interface Config
  extends GitSettings,
    IdpConfig,
    OidcConfig,
    OperatorConfig,
    OutboundConfig,
    PeopleConfig,
    ProfileConfig,
    RetentionConfig,
    ValuesConfig {
  readonly configFile: string | undefined;
  /** Directories of documents, unchanged from the flag or variable. */
  readonly sources: readonly string[];
  readonly listen: { readonly host: string; readonly port: number };
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly server: string;
  readonly token: string | undefined;
  readonly log: 'text' | 'json';
  readonly logLevel: LogLevel;
  readonly poolSize: number;
  /** Maximum time, in milliseconds, that a start waits for a database that does not answer. */
  readonly waitForDatabaseMs: number;
  readonly preparedStatements: boolean;
  readonly openEndpoints: readonly string[];
  readonly shutdownGraceMs: number;
  readonly edition: Edition;
  /** Absent: the default of the edition. */
  readonly rateLimit: RateLimit | 'off' | undefined;
  /** Limit for the requests of one account that make a plan. */
  readonly planRateLimit: RateLimit | 'off';
  /** Maximum number of an account's tenants that wait for their domain to be verified. */
  readonly pendingTenants: number;
  /** Additional address at which metrics are served without a token. */
  readonly metricsListen: { readonly host: string; readonly port: number } | undefined;
  readonly corsOrigins: '*' | readonly string[];
  readonly trustProxy: number | readonly string[];
  readonly secretKey: string | undefined;
  readonly secretKeyFile: string | undefined;
  /** Directory whose files documents may use as secrets. */
  readonly valuesDir: string | undefined;
  /** File of the database with the locations of public addresses. Absent: locations are unknown. */
  readonly geoDatabase: string | undefined;
  /** Seconds after which another server takes over the sources of a server that stopped. */
  readonly leaseSeconds: number;
  /** Seconds after which the claims of a refused push end, unless the push is repeated. */
  readonly claimLapseSeconds: number;
}

/** Environment variables as they were when the process started. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Values of flags by name. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The requested settings, or one sentence for each setting that is wrong. */
export type ConfigResult<K extends keyof Config> =
  | { readonly ok: true; readonly config: Pick<Config, K> }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Environment of this process. All other files read it from here. */
export const environment: Environment = Object.freeze({ ...process.env });

/** Values of settings in a file, as texts. */
export type FileValues = { readonly [K in keyof Config]?: readonly string[] };

/**
 * Reads the settings with these names. A flag overrides the environment variable, which overrides the file, which
 * overrides the default. An empty variable counts as not set.
 */
export function readConfig<K extends keyof Config>(
  env: Environment,
  flags: FlagValues,
  names: readonly K[],
  file: FileValues = {},
): ConfigResult<K> {
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const name of names) {
    const setting: Setting<unknown> = settings[name];
    const [origin, stated] = statedValue(setting, env, flags);
    const given = stated ?? file[name];
    const result = given === undefined ? { value: setting.default } : setting.parse(given);
    if ('fault' in result) faults.push(`${origin} ${result.fault}${result.fault.endsWith('?') ? '' : '.'}`);
    else config[name] = result.value;
  }
  if (faults.length > 0) return { ok: false, faults };
  // The cast is safe: each name has the value that its own setting parsed.
  return { ok: true, config: Object.freeze(config) as Pick<Config, K> };
}

/** Declaration of one setting: its flag and variable, its documentation, and the parser of its text. */
export interface Setting<T> {
  readonly flag?: string;
  readonly variable?: string;
  /** The placeholder of the value in help texts. */
  readonly placeholder: string;
  readonly doc: string;
  /**
   * The setting is a list. With `commas`, only commas separate the items in a variable, because an item may contain the
   * separator of paths.
   */
  readonly multiple?: true | 'commas';
  /** The flag takes no value; its presence means `true`. */
  readonly isSwitch?: true;
  readonly default: T;
  parse(text: readonly string[]): Parsed<T>;
}

/** All settings, by their name in the configuration. */
export const settings: { readonly [K in keyof Config]: Setting<Config[K]> } = {
  configFile: textSetting({
    flag: 'config',
    variable: 'HEDDLE_CONFIG',
    placeholder: 'FILE',
    doc: 'File of settings and sources (YAML); flags and variables override its values.',
  }),
  sources: {
    flag: 'source',
    variable: 'HEDDLE_SOURCE',
    placeholder: 'DIR',
    doc: 'Directory of documents to apply and to watch; may be repeated. NAME=DIR names its source (default: `source` in the heddle.yaml of the directory, else the last part of its path).',
    multiple: true,
    default: [],
    parse: (texts) => ({ value: [...new Set(texts)] }),
  },
  listen: {
    flag: 'listen',
    variable: 'HEDDLE_LISTEN',
    placeholder: 'HOST:PORT',
    doc: 'Address to listen on (default 127.0.0.1:8080).',
    default: { host: '127.0.0.1', port: 8080 },
    parse: ([text = '']) => parseListen(text),
  },
  databaseUrl: {
    flag: 'database-url',
    variable: 'HEDDLE_DATABASE_URL',
    placeholder: 'URL',
    doc: 'Postgres to keep the state in; without it an embedded database in the data directory is used.',
    default: undefined,
    parse: ([text = '']) => parseDatabaseUrl(text),
  },
  dataDir: {
    flag: 'data-dir',
    variable: 'HEDDLE_DATA_DIR',
    placeholder: 'DIR',
    doc: 'Directory of the embedded database and of the first token (default .heddle).',
    default: '.heddle',
    parse: ([text = '']) => ({ value: text }),
  },
  ...operatorSettings,
  server: {
    flag: 'server',
    variable: 'HEDDLE_SERVER',
    placeholder: 'URL',
    doc: 'Server to talk to (default http://127.0.0.1:8080).',
    default: 'http://127.0.0.1:8080',
    parse: ([text = '']) => parseServer(text),
  },
  token: textSetting({
    flag: 'token',
    variable: 'HEDDLE_TOKEN',
    placeholder: 'TOKEN',
    doc: 'Token to authenticate with; without it the file `token` in the data directory is read.',
  }),
  log: {
    flag: 'log',
    variable: 'HEDDLE_LOG',
    placeholder: 'text|json',
    doc: 'Format of the log lines (default text).',
    default: 'text',
    parse: ([text = '']) =>
      text === 'text' || text === 'json' ? { value: text } : { fault: `is \`${text}\`; write text or json` },
  },
  logLevel: {
    flag: 'log-level',
    variable: 'HEDDLE_LOG_LEVEL',
    placeholder: logLevels.join('|'),
    doc: 'Lowest level of the lines that are logged. Requests that read are `debug`, others `info` (default info).',
    default: 'info',
    parse: ([text = '']) => {
      const level = logLevels.find((known) => known === text);
      return level === undefined ? { fault: `is \`${text}\`; write ${logLevels.join(', ')}` } : { value: level };
    },
  },
  poolSize: {
    flag: 'pool-size',
    variable: 'HEDDLE_POOL_SIZE',
    placeholder: 'N',
    doc: 'Maximum number of connections to Postgres (default 10).',
    default: 10,
    parse: ([text = '']) => parseCount(text, 1, 1000),
  },
  waitForDatabaseMs: {
    flag: 'wait-for-database',
    variable: 'HEDDLE_WAIT_FOR_DATABASE',
    placeholder: 'TIME',
    doc: 'How long the server waits at its start for Postgres to answer (default 60s).',
    default: 60_000,
    parse: ([text = '']) => parseGrace(text),
  },
  preparedStatements: {
    variable: 'HEDDLE_PREPARED_STATEMENTS',
    placeholder: 'true|false',
    doc: 'Whether named prepared statements are used; set `false` behind a PgBouncer that does not support them (default true).',
    default: true,
    parse: ([text = '']) => parseSwitch(text),
  },
  openEndpoints: {
    variable: 'HEDDLE_OPEN_ENDPOINTS',
    placeholder: 'PATHS',
    doc: `Endpoints that need no token, a list of ${openableEndpoints.join(', ')} (default none).`,
    multiple: true,
    default: [],
    parse: parseEndpoints,
  },
  shutdownGraceMs: {
    flag: 'shutdown-grace',
    variable: 'HEDDLE_SHUTDOWN_GRACE',
    placeholder: 'TIME',
    doc: 'How long requests may take to finish after SIGTERM (default 10s).',
    default: 10_000,
    parse: ([text = '']) => parseGrace(text),
  },
  edition: {
    variable: 'HEDDLE_EDITION',
    placeholder: 'self-hosted|hosted',
    doc: 'Edition as which the server runs (default self-hosted).',
    default: 'self-hosted',
    parse: ([text = '']) =>
      text === 'self-hosted' || text === 'hosted'
        ? { value: text }
        : { fault: `is \`${text}\`; write self-hosted or hosted` },
  },
  rateLimit: {
    variable: 'HEDDLE_RATE_LIMIT',
    placeholder: 'COUNT/BURST|off',
    doc: 'Requests of one caller per minute, and in one burst (default 120/1200 in the hosted edition, else off).',
    default: undefined,
    parse: ([text = '']) => parseRateLimit(text),
  },
  planRateLimit: {
    variable: 'HEDDLE_PLAN_RATE_LIMIT',
    placeholder: 'COUNT/BURST|off',
    doc: 'Plans of one account per minute, and in one burst, including those for validating and applying (default 300/600).',
    default: { perMinute: 300, burst: 600 },
    parse: ([text = '']) => parseRateLimit(text),
  },
  pendingTenants: {
    variable: 'HEDDLE_PENDING_TENANTS',
    placeholder: 'COUNT',
    doc: 'Maximum number of tenants of each account with a domain that is not proved yet (default 50).',
    default: 50,
    parse: ([text = '']) => parseCount(text, 0, 100_000),
  },
  ...profileSettings,
  metricsListen: {
    variable: 'HEDDLE_METRICS_LISTEN',
    placeholder: 'HOST:PORT',
    doc: 'Additional address on which `/metrics` answers without a token; on the main address, `/metrics` needs one.',
    default: undefined,
    parse: ([text = '']) => parseListen(text),
  },
  corsOrigins: {
    variable: 'HEDDLE_CORS_ORIGINS',
    placeholder: 'ORIGINS',
    doc: 'Origins with pages that may call the API, a list, `*` or `off` (default *; the API authenticates with tokens, never with cookies).',
    multiple: 'commas',
    default: '*',
    parse: parseOrigins,
  },
  trustProxy: {
    variable: 'HEDDLE_TRUST_PROXY',
    placeholder: 'COUNT|ADDRESSES',
    doc: 'Trusted proxies in front of the server, by number or by address; the client addresses that they report are used (default 0).',
    multiple: 'commas',
    default: 0,
    parse: parseProxies,
  },
  ...idpSettings,
  ...peopleSettings,
  secretKey: textSetting({
    variable: 'HEDDLE_SECRET_KEY',
    placeholder: 'KEYS',
    doc: 'Key for secrets at rest, 32 bytes as base64 or hex; further keys after a comma only open secrets that they sealed.',
  }),
  secretKeyFile: textSetting({
    variable: 'HEDDLE_SECRET_KEY_FILE',
    placeholder: 'FILE',
    doc: 'File that holds these keys, one per line; with the embedded database, one is created in the data directory.',
  }),
  valuesDir: textSetting({
    flag: 'values-dir',
    variable: 'HEDDLE_VALUES_DIR',
    placeholder: 'DIR',
    doc: 'Directory of the files that documents may name with valueFrom.fileRef.',
  }),
  geoDatabase: textSetting({
    variable: 'HEDDLE_GEO_DATABASE',
    placeholder: 'FILE',
    doc: 'Location database (GeoLite2 City or similar, .mmdb) that provides the country and the city of peers; none by default.',
  }),
  ...valueSettings,
  ...retentionSettings,
  leaseSeconds: {
    variable: 'HEDDLE_LEASE',
    placeholder: 'TIME',
    doc: 'Time after which another server takes over the sources of a failed server, 3s to 5m (default 25s).',
    default: 25,
    parse: ([text = '']) => parseLease(text),
  },
  claimLapseSeconds: {
    variable: 'HEDDLE_CLAIM_LAPSE',
    placeholder: 'TIME',
    doc: 'How long a refused push keeps others from changing what it states, 1m to 7d (default 1h).',
    default: 3600,
    parse: ([text = '']) => parseClaimLapse(text),
  },
  ...oidcSettings,
  ...gitSettings,
  ...outboundSettings,
};

/** Returns the declaration of an optional text setting. */
function textSetting(setting: Omit<Setting<string | undefined>, 'default' | 'parse'>): Setting<string | undefined> {
  return { ...setting, default: undefined, parse: ([text]) => ({ value: text?.trim() }) };
}

function statedValue(
  setting: Setting<unknown>,
  env: Environment,
  flags: FlagValues,
): readonly [origin: string, texts: readonly string[] | undefined] {
  const flag = setting.flag === undefined ? undefined : flags[setting.flag];
  if (flag === true) return [`--${setting.flag}`, ['true']];
  if (typeof flag === 'string') return [`--${setting.flag}`, [flag]];
  if (Array.isArray(flag)) return [`--${setting.flag}`, flag.map(String)];
  const text = (setting.variable === undefined ? undefined : env[setting.variable])?.trim() ?? '';
  if (text === '') return ['', undefined];
  return [
    setting.variable ?? '',
    setting.multiple === undefined ? [text] : splitList(text, setting.multiple === 'commas'),
  ];
}

/** Splits a variable that is a list: at commas, or at the path separator of this system. */
function splitList(text: string, byCommas: boolean): readonly string[] {
  const separator = byCommas || text.includes(',') ? ',' : delimiter;
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
