import { join, resolve } from 'node:path';
import { parseDuration } from '../../lib/duration.ts';
import type { JsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/node-pure.ts';
import type { Transport } from '../../model/remote-url.ts';
import type { ValuePolicy } from '../../model/schema/value-policy.ts';
import { type GitConfig, mapFiles, maxApiSizeMiB, type SourceConfig } from '../../model/sources/schema.ts';
import { isServerManaged, recordedSpec } from '../../model/sources/spec.ts';
import type { StatedSource } from '../../model/sources/stated.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { openDirectory } from './directory/directory.ts';
import type { Origin } from './files/origin.ts';
import { type RunningName, withNameCheck } from './files/stated-name.ts';
import { openGit } from './git/git.ts';
import type { GitSlots } from './git/git-slots.ts';
import { defaultTiming } from './loop/schedule.ts';
import { type FilePermissions, fileRefusal, operatorPermission, type Permission, permissionOf } from './permission.ts';
import type { CalledSource } from './scheduled-sources.ts';

/** A source that this server may run. */
export interface SourceDefinition {
  readonly account: string;
  readonly name: string;
  readonly type: string;
  /** Spec of the source as it is recorded: its settings, and whether the configuration or the API manages it. */
  readonly spec: JsonObject;
  /** True when this server's configuration defines the source, false when only the database does. */
  readonly isConfigured: boolean;
  readonly intervalMs: number;
  /** File with the webhook secret, by which hints for this source are verified. Absent: the source accepts no hints. */
  readonly webhookSecretFile?: string;
  /** Delay of the first reconcile, in milliseconds, so that many sources do not start together. */
  readonly delayMs: number;
  /**
   * Identifies what the source is opened on. When it changes, the source is opened again, even if its spec is the same.
   */
  readonly opening?: string;
  /**
   * True: a bad file does not keep the other files from being applied, because there are no commits that must be
   * applied as a whole.
   */
  readonly holdsBack?: true;
  /** Called after a changed status of the source was recorded. */
  readonly onStatusRecorded?: () => void;
  /** Opens the origin of the source's documents. */
  open(options: OpenOptions): Origin;
}

/** Options for opening the origin of a source. */
export interface OpenOptions {
  readonly onError: (error: unknown) => void;
  /** Returns the paths of the files that currently declare objects of the source. */
  readonly statedFiles: () => Promise<ReadonlySet<string>>;
}

/** Returns the definition of a source that reads a directory of this server. */
export function defineDirectory(
  account: string,
  stated: SourceConfig & RunningName & { readonly path: string },
): SourceDefinition {
  const { name, path } = stated;
  return {
    account,
    name,
    type: 'directory',
    spec: recordedSpec('directory', stated, 'server'),
    isConfigured: true,
    intervalMs: parseInterval(stated.interval, defaultTiming.intervalMs),
    delayMs: 0,
    open: (options) => withNameCheck(openDirectory({ path, globs: stated, ...options }), stated),
  };
}

/** Returns the definition of a recorded source that cannot be read for this reason. Its objects stay. */
export function defineUnavailable(
  { account, id: name, type, spec }: Pick<CalledSource, 'account' | 'id' | 'type' | 'spec'>,
  reason: string,
): SourceDefinition {
  const fetch = async () => ({ ok: false as const, reason });
  return {
    ...{ account, name, type, spec, isConfigured: false, delayMs: 0, opening: reason },
    intervalMs: defaultTiming.intervalMs,
    open: () => ({ fetch, peek: fetch, watch: () => async () => undefined }),
  };
}

/** Options that all Git sources of a server share. */
export interface GitSourceOptions {
  /** Directory of the files that sources made over the API may name. `undefined`: there are none. */
  readonly valuesDir: string | undefined;
  /** Data directory of the server. Repositories are stored in its subdirectory `git`. */
  readonly dataDir: string;
  readonly transports: readonly Transport[];
  readonly environment: Readonly<Record<string, string>>;
  readonly outbound: Outbound;
  /** Limits the git processes of the sources of all accounts together. */
  readonly slots: GitSlots;
  /** Returns the hosts that sources of the account may reach although they are not public. */
  formerHosts(account: string): ReadonlySet<string>;
  readonly files: FilePermissions;
}

const defaultPollMs = 60_000;

/**
 * Returns the definition of a Git source, from the server's configuration or from the database. Files in `config` are
 * paths of this server.
 */
function defineGit(
  source: {
    readonly account: string;
    readonly name: string;
    readonly spec: JsonObject;
    readonly isConfigured: boolean;
    readonly config: GitConfig;
    readonly permission: Permission;
  },
  { dataDir, transports, environment, outbound, formerHosts, slots }: GitSourceOptions,
): SourceDefinition {
  const { account, name, config, permission } = source;
  const directory = resolve(dataDir, 'git', sha256(`${account}/${name}`).slice(0, 20));
  const intervalMs = parseInterval(config.interval, defaultTiming.intervalMs);
  const pollMs = parseInterval(config.pollInterval, defaultPollMs);
  const namedBy = source.isConfigured ? 'operator' : 'user';
  const network = { outbound, namedBy, alsoAllowed: formerHosts(account) } as const;
  return {
    ...{ account, name, type: 'git', spec: source.spec, isConfigured: source.isConfigured, intervalMs },
    delayMs: Math.random() * Math.min(startSpreadMs, intervalMs / 10),
    ...(config.webhook === undefined ? {} : { webhookSecretFile: config.webhook.secretFile }),
    open: ({ onError }) => {
      const shared = { transports, environment, slots };
      const origin = openGit({ account, config, directory, network, permission, pollMs, onError, ...shared });
      return withNameCheck(origin, { name });
    },
  };
}

/** Time over which the first reconciles of Git sources are spread, in milliseconds. */
const startSpreadMs = 5000;

/**
 * Returns the definition of a source that was made over the API. Returns `undefined` when it is not a Git source, or
 * when the configuration of a server defines it.
 */
export function defineRecorded(
  { account, id, type, spec }: Pick<CalledSource, 'account' | 'id' | 'type' | 'spec'>,
  options: GitSourceOptions,
): SourceDefinition | undefined {
  if (type !== 'git' || isServerManaged(type, spec)) return undefined;
  // The API checked the spec before it was recorded.
  const stated = spec as unknown as GitConfig;
  const { files, transports } = options;
  const permission = permissionOf({ account, name: id, config: stated }, files);
  const { webhook, ...others } = mapFiles(stated, (name) => join(options.valuesDir ?? '/nonexistent', name));
  // Hints cannot be verified without a secret that the source may use.
  const isHinted =
    webhook !== undefined && fileRefusal({ account, name: id, config: stated }, files.policy) === undefined;
  const { maxSizeMiB = maxApiSizeMiB } = others;
  // Earlier releases recorded larger sizes.
  const size = { maxSizeMiB: Math.min(maxSizeMiB, maxApiSizeMiB) };
  const config = isHinted ? { ...others, ...size, webhook } : { ...others, ...size };
  const allowed = transportsFor(transports, files.policy, account);
  const source = { account, name: id, spec, isConfigured: false, config, permission };
  return defineGit(source, { ...options, transports: allowed });
}

/**
 * Returns the transports that sources made over the API may use. Only the operator's account may read repositories from
 * files of the server.
 */
export function transportsFor(
  transports: readonly Transport[],
  { isOperator }: ValuePolicy,
  account: string,
): readonly Transport[] {
  return isOperator(account) ? transports : transports.filter((transport) => transport !== 'file');
}

/** Returns the definition of a source from the server's settings file. */
export function defineStated(
  account: string,
  stated: Exclude<StatedSource, { readonly type: 'kubernetes' }>,
  options: GitSourceOptions,
): SourceDefinition {
  const own = stated.account ?? account;
  if (stated.type === 'directory') return defineDirectory(own, stated);
  const spec = recordedSpec('git', stated, 'server');
  return defineGit(
    { account: own, name: stated.name, spec, isConfigured: true, config: stated, permission: operatorPermission },
    options,
  );
}

/** Converts a validated duration to milliseconds. Returns `otherwise` when it is absent. */
function parseInterval(text: string | undefined, otherwise: number): number {
  const seconds = text === undefined ? undefined : parseDuration(text);
  return seconds === undefined ? otherwise : seconds * 1000;
}
