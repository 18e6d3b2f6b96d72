import { readFile } from 'node:fs/promises';
import type { Engine } from '../../commit/engine.ts';
import type { ServiceAddress } from '../../kubernetes/connection.ts';
import { normalizeHost } from '../../lib/net/public-address.ts';
import { InvalidInput } from '../../model/errors.ts';
import type { ValuePolicy } from '../../model/schema/value-policy.ts';
import type { KubernetesConfig } from '../../model/sources/kubernetes.ts';
import type { StatedSource } from '../../model/sources/stated.ts';
import { bindToHost } from './credential-hosts.ts';
import {
  defineDirectory,
  defineRecorded,
  defineStated,
  type GitSourceOptions,
  type SourceDefinition,
  transportsFor,
} from './definition.ts';
import type { ConfiguredDirectory } from './directory/directory-sources.ts';
import { type NamedSource, refuseRepeatedNames } from './names.ts';
import { type FilePermissions, fileRefusal } from './permission.ts';
import { type CalledSource, listScheduledSources } from './scheduled-sources.ts';
import type { SourceRules } from './source-admin.ts';

/**
 * The sources that a server may run: those of its configuration, and a definition for each one that was made over the
 * API.
 */
export interface SourceInstallation {
  readonly definitions: readonly SourceDefinition[];
  /** Directories that name their sources themselves. */
  readonly directories: readonly ConfiguredDirectory[];
  /** The clusters whose namespaces are sources. */
  readonly clusters: readonly ConfiguredCluster[];
  define(recorded: CalledSource): SourceDefinition | undefined;
  readonly rules: SourceRules;
}

/** A cluster in the configuration, and its account. */
export interface ConfiguredCluster {
  readonly account: string;
  readonly config: KubernetesConfig;
  /** Address of the API server of the cluster in which this server runs. `undefined`: it does not run in a cluster. */
  readonly ownCluster: ServiceAddress | undefined;
  /** URL at which machines and people reach this service, if it is configured. */
  readonly managementUrl?: string | undefined;
}

/** The part of a server's configuration that concerns sources. */
export interface ConfiguredSources extends Omit<GitSourceOptions, 'files'> {
  /** Decides which accounts and sources may use which of the server's values. */
  readonly policy: ValuePolicy;
  /** Maximum number of Git sources that an account may make over the API. */
  readonly maxGitSources: number;
  /** Directories that are named by flags. */
  readonly named: readonly NamedSource[];
  /** Sources in the settings file. */
  readonly stated: readonly StatedSource[];
  /** Address of the API server of the cluster in which this server runs. Absent: it does not run in a cluster. */
  readonly ownCluster?: ServiceAddress | undefined;
  /** URL at which machines and people reach this service, if it is configured. */
  readonly managementUrl?: string | undefined;
}

/**
 * Combines the sources of a server. Throws `InvalidInput` when two would have the same name, or when they would belong
 * to no account.
 */
export function installSources(
  engine: Engine,
  account: string | undefined,
  configured: ConfiguredSources,
): SourceInstallation {
  refuseRepeatedNames(configured.named, configured.stated);
  const { policy } = configured;
  const files: FilePermissions = {
    policy,
    bindToHost: (shown, host) => bindToHost(engine, shown, host),
  };
  const options = { ...configured, files };
  const definitions = account === undefined ? requireNoSources(configured) : definitionsOf(account, options);
  const define = (recorded: CalledSource) => defineRecorded(recorded, options);
  const recordedSources = cacheResult(() => listScheduledSources(engine));
  const find = async (of: string, name: string): Promise<SourceDefinition | undefined> => {
    const own = definitions.find((definition) => definition.account === of && definition.name === name);
    if (own !== undefined) return own;
    const recorded = (await recordedSources()).find((source) => source.account === of && source.id === name);
    return recorded === undefined ? undefined : define(recorded);
  };
  return {
    definitions,
    directories: directoriesOf(account, configured),
    clusters: clustersOf(account, configured),
    define,
    rules: {
      maxGitSources: configured.maxGitSources,
      transports: (of) => transportsFor(configured.transports, policy, of),
      refusesFile: (of, name, config) => fileRefusal({ account: of, name, config }, policy),
      refusesHost: (of, host) =>
        configured.formerHosts(of).has(normalizeHost(host)) ? undefined : configured.outbound.refusesHost(host),
      ...(account === undefined ? {} : { account }),
      async webhookSecret(of, name) {
        const file = (await find(of, name))?.webhookSecretFile;
        if (file === undefined) return undefined;
        // A secret that cannot be read counts as missing, so that no hint is accepted.
        const text = await readFile(file, 'utf8').catch(() => '');
        const secret = text.replace(/\r?\n$/, '');
        return secret === '' ? undefined : secret;
      },
    },
  };
}

function definitionsOf(account: string, configured: ConfiguredSources & GitSourceOptions): readonly SourceDefinition[] {
  return [
    ...configured.named
      .filter(({ isNamedByDirectory }) => isNamedByDirectory !== true)
      .map((source) => defineDirectory(account, source)),
    ...configured.stated.flatMap((source) =>
      source.type === 'kubernetes' ? [] : [defineStated(account, source, configured)],
    ),
  ];
}

function directoriesOf(account: string | undefined, { named }: ConfiguredSources): readonly ConfiguredDirectory[] {
  if (account === undefined) return [];
  return named.flatMap((source) => (source.isNamedByDirectory === true ? [{ account, source }] : []));
}

function clustersOf(
  account: string | undefined,
  { stated, ownCluster, managementUrl }: ConfiguredSources,
): readonly ConfiguredCluster[] {
  return stated.flatMap((config) => {
    const own = config.account ?? account;
    return config.type === 'kubernetes' && own !== undefined
      ? [{ account: own, config, ownCluster, managementUrl }]
      : [];
  });
}

/**
 * Returns no sources. Throws `InvalidInput` when the configuration names some: without an operator's account, they have
 * no account to write to.
 */
function requireNoSources({ named, stated }: ConfiguredSources): readonly SourceDefinition[] {
  if (named.length + stated.length === 0) return [];
  throw new InvalidInput(
    "the sources of --source and --config write to the operator's account, and this server has none; name it by its id in HEDDLE_OPERATOR_ACCOUNT",
  );
}

/**
 * Time for which the recorded sources are cached, in milliseconds. Anybody may send hints, and no hint is worth a
 * database query.
 */
const cacheMs = 5000;

/** Calls `ask` at most once per `cacheMs`. Other calls get the same result. */
function cacheResult<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let last: { readonly at: number; readonly answer: Promise<Value> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at > cacheMs) last = { at: now, answer: ask() };
    return last.answer;
  };
}
