import { readFile } from 'node:fs/promises';
import type { Engine } from '../../commit/engine.ts';
import type { ServiceAddress } from '../../kubernetes/connection.ts';
import { plainHost } from '../../lib/net/public-address.ts';
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
import { type NamedSource, refuseRepeatedNames } from './names.ts';
import { type FilePermissions, fileRefusal } from './permission.ts';
import { type CalledSource, scheduledSources } from './scheduled-sources.ts';
import type { SourceRules } from './source-admin.ts';

/** The sources that a server knows of: those of its configuration, and how it would run those that the API made. */
export interface SourceInstallation {
  readonly definitions: readonly SourceDefinition[];
  /** The clusters whose namespaces are sources. */
  readonly clusters: readonly StatedCluster[];
  define(recorded: CalledSource): SourceDefinition | undefined;
  readonly rules: SourceRules;
}

/** A cluster that the configuration states, and the account that it is for. */
export interface StatedCluster {
  readonly account: string;
  readonly config: KubernetesConfig;
  /** Where the API server is of the cluster that this server runs in; absent: it runs in none. */
  readonly ownCluster: ServiceAddress | undefined;
  /** Where machines and people reach the service, if that is known. */
  readonly managementUrl?: string | undefined;
}

/** What a server's configuration says about sources. */
export interface ConfiguredSources extends Omit<GitSourceOptions, 'files'> {
  /** Which accounts and sources may use which of the server's values. */
  readonly policy: ValuePolicy;
  /** How many Git sources an account may make over the API. */
  readonly mostGitSources: number;
  /** Directories that flags name. */
  readonly named: readonly NamedSource[];
  /** Those of the file of settings. */
  readonly stated: readonly StatedSource[];
  /** Where the API server is of the cluster that this server runs in; absent: it runs in none. */
  readonly ownCluster?: ServiceAddress | undefined;
  /** Where machines and people reach the service, if that is known. */
  readonly managementUrl?: string | undefined;
}

/** Puts the sources of a server together. Throws when two would have one name, or belong to no account. */
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
  const definitions = account === undefined ? nobodys(configured) : definitionsOf(account, options);
  const define = (recorded: CalledSource) => defineRecorded(recorded, options);
  const recordedSources = remember(() => scheduledSources(engine));
  const find = async (of: string, name: string): Promise<SourceDefinition | undefined> => {
    const own = definitions.find((definition) => definition.account === of && definition.name === name);
    if (own !== undefined) return own;
    const recorded = (await recordedSources()).find((source) => source.account === of && source.id === name);
    return recorded === undefined ? undefined : define(recorded);
  };
  return {
    definitions,
    clusters: clustersOf(account, configured),
    define,
    rules: {
      mostGitSources: configured.mostGitSources,
      transports: (of) => transportsFor(configured.transports, policy, of),
      refusesFile: (of, name, config) => fileRefusal({ account: of, name, config }, policy),
      refusesHost: (of, host) =>
        configured.formerHosts(of).has(plainHost(host)) ? undefined : configured.outbound.refusesHost(host),
      ...(account === undefined ? {} : { account }),
      async webhookSecret(of, name) {
        const file = (await find(of, name))?.webhookSecretFile;
        if (file === undefined) return undefined;
        // A secret that cannot be read is none: no hint is genuine then.
        const text = await readFile(file, 'utf8').catch(() => '');
        const secret = text.replace(/\r?\n$/, '');
        return secret === '' ? undefined : secret;
      },
    },
  };
}

function definitionsOf(account: string, configured: ConfiguredSources & GitSourceOptions): readonly SourceDefinition[] {
  return [
    ...configured.named.map((source) => defineDirectory(account, source)),
    ...configured.stated.flatMap((source) =>
      source.type === 'kubernetes' ? [] : [defineStated(account, source, configured)],
    ),
  ];
}

function clustersOf(
  account: string | undefined,
  { stated, ownCluster, managementUrl }: ConfiguredSources,
): readonly StatedCluster[] {
  return stated.flatMap((config) => {
    const own = config.account ?? account;
    return config.type === 'kubernetes' && own !== undefined
      ? [{ account: own, config, ownCluster, managementUrl }]
      : [];
  });
}

/** Without an operator's account there is none that the server's own sources could write to. */
function nobodys({ named, stated }: ConfiguredSources): readonly SourceDefinition[] {
  if (named.length + stated.length === 0) return [];
  throw new InvalidInput(
    "the sources of --source and --config write to the operator's account, and this server has none; name it by its id in HEDDLE_OPERATOR_ACCOUNT",
  );
}

/** Anybody may send hints, and none of them is worth a question to the database. */
const rememberMs = 5000;

/** Runs at most once in a while; calls in between get the same result. */
function remember<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let last: { readonly at: number; readonly answer: Promise<Value> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at > rememberMs) last = { at: now, answer: ask() };
    return last.answer;
  };
}
