import { join, resolve } from 'node:path';
import { parseDuration } from '../../lib/duration.ts';
import type { JsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/node-pure.ts';
import type { Transport } from '../../model/remote-url.ts';
import type { ValuePolicy } from '../../model/schema/value-policy.ts';
import { type GitConfig, mostSizeOverApi, type SourceConfig, withFiles } from '../../model/sources/schema.ts';
import { isOfServer, recordedSpec } from '../../model/sources/spec.ts';
import type { StatedSource } from '../../model/sources/stated.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { openDirectory } from './directory/directory.ts';
import type { Origin } from './files/origin.ts';
import { openGit } from './git/git.ts';
import type { GitSlots } from './git/git-slots.ts';
import { plainTiming } from './loop/schedule.ts';
import { type FilePermissions, fileRefusal, ofOperator, type Permission, permissionOf } from './permission.ts';
import type { CalledSource } from './scheduled-sources.ts';

/** A source that this server may run. */
export interface SourceDefinition {
  readonly account: string;
  readonly name: string;
  readonly type: string;
  /** What is recorded of it: its settings, and where it comes from. */
  readonly spec: JsonObject;
  /** Whether this server's configuration says so, and not what is recorded. */
  readonly isConfigured: boolean;
  readonly intervalMs: number;
  /** The file with the secret by which hints are known to be its own. */
  readonly webhookSecretFile?: string;
  /** How long the first reconcile waits, so that many sources do not begin together. */
  readonly delayMs: number;
  /** Names what it reads now: under another name it is opened anew, although its settings are the same. */
  readonly opening?: string;
  /** A bad file does not keep the others from being applied: there are no commits that belong together. */
  readonly holdsBack?: true;
  /** Something was recorded of how it fares. */
  readonly noted?: () => void;
  /** Opens what it reads. */
  open(options: OpenOptions): Origin;
}

/** What opening a source takes. */
export interface OpenOptions {
  readonly onError: (error: unknown) => void;
  /** The files that state objects of the source until now, by their paths. */
  readonly statedFiles: () => Promise<ReadonlySet<string>>;
}

/** A directory of this server. */
export function defineDirectory(
  account: string,
  stated: SourceConfig & { readonly name: string; readonly path: string },
): SourceDefinition {
  const { name, path } = stated;
  return {
    account,
    name,
    type: 'directory',
    spec: recordedSpec('directory', stated, 'server'),
    isConfigured: true,
    intervalMs: intervalOf(stated.interval, plainTiming.intervalMs),
    delayMs: 0,
    open: (options) => openDirectory({ path, globs: stated, ...options }),
  };
}

/** What Git sources of a server have in common. */
export interface GitSourceOptions {
  /** Where files are that the API names; absent: nowhere. */
  readonly valuesDir: string | undefined;
  /** Where repositories are kept. */
  readonly dataDir: string;
  readonly transports: readonly Transport[];
  readonly environment: Readonly<Record<string, string>>;
  readonly outbound: Outbound;
  /** Sources of all accounts take turns with it. */
  readonly turns: GitSlots;
  /** Hosts that sources of an account may reach although they are not public. */
  formerHosts(account: string): ReadonlySet<string>;
  readonly files: FilePermissions;
}

const usualPollMs = 60_000;

/** A Git repository, stated by the server's configuration or by what is recorded. Its files are paths of this server. */
function defineGit(
  source: {
    readonly account: string;
    readonly name: string;
    readonly spec: JsonObject;
    readonly isConfigured: boolean;
    readonly config: GitConfig;
    readonly permission: Permission;
  },
  { dataDir, transports, environment, outbound, formerHosts, turns }: GitSourceOptions,
): SourceDefinition {
  const { account, name, config, permission } = source;
  const directory = resolve(dataDir, 'git', sha256(`${account}/${name}`).slice(0, 20));
  const intervalMs = intervalOf(config.interval, plainTiming.intervalMs);
  const pollMs = intervalOf(config.pollInterval, usualPollMs);
  const namedBy = source.isConfigured ? 'operator' : 'user';
  const network = { outbound, namedBy, alsoAllowed: formerHosts(account) } as const;
  return {
    ...{ account, name, type: 'git', spec: source.spec, isConfigured: source.isConfigured, intervalMs },
    delayMs: Math.random() * Math.min(startSpreadMs, intervalMs / 10),
    ...(config.webhook === undefined ? {} : { webhookSecretFile: config.webhook.secretFile }),
    open: ({ onError }) =>
      openGit({ account, config, directory, transports, environment, network, permission, turns, pollMs, onError }),
  };
}

/** Over so long the first reconciles of Git sources are spread. */
const startSpreadMs = 5000;

/** A source that the API made; `undefined` for one that no server runs by itself. */
export function defineRecorded(
  { account, id, type, spec }: Pick<CalledSource, 'account' | 'id' | 'type' | 'spec'>,
  options: GitSourceOptions,
): SourceDefinition | undefined {
  if (type !== 'git' || isOfServer(type, spec)) return undefined;
  // The API checked it before it was recorded.
  const stated = spec as unknown as GitConfig;
  const { files, transports } = options;
  const permission = permissionOf({ account, name: id, config: stated }, files);
  const { webhook, ...others } = withFiles(stated, (name) => join(options.valuesDir ?? '/nonexistent', name));
  // Without a secret that it may use no hint is genuine.
  const isHinted =
    webhook !== undefined && fileRefusal({ account, name: id, config: stated }, files.policy) === undefined;
  const { maxSizeMiB = mostSizeOverApi } = others;
  // Earlier releases recorded larger ones.
  const size = { maxSizeMiB: Math.min(maxSizeMiB, mostSizeOverApi) };
  const config = isHinted ? { ...others, ...size, webhook } : { ...others, ...size };
  const allowed = transportsFor(transports, files.policy, account);
  const source = { account, name: id, spec, isConfigured: false, config, permission };
  return defineGit(source, { ...options, transports: allowed });
}

/** How sources that the API made may reach repositories: files of the server are for the operator's account. */
export function transportsFor(
  transports: readonly Transport[],
  { isOperator }: ValuePolicy,
  account: string,
): readonly Transport[] {
  return isOperator(account) ? transports : transports.filter((transport) => transport !== 'file');
}

/** The sources that a server's file of settings states. */
export function defineStated(
  account: string,
  stated: Exclude<StatedSource, { readonly type: 'kubernetes' }>,
  options: GitSourceOptions,
): SourceDefinition {
  const own = stated.account ?? account;
  if (stated.type === 'directory') return defineDirectory(own, stated);
  const spec = recordedSpec('git', stated, 'server');
  return defineGit(
    { account: own, name: stated.name, spec, isConfigured: true, config: stated, permission: ofOperator },
    options,
  );
}

/** Milliseconds of a checked duration. */
function intervalOf(text: string | undefined, otherwise: number): number {
  const seconds = text === undefined ? undefined : parseDuration(text);
  return seconds === undefined ? otherwise : seconds * 1000;
}
