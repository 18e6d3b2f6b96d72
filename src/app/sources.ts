import type { Database } from '../db/database.ts';
import { listFormerGitHosts } from '../db/sources/former-git-hosts.ts';
import { createGitSlots } from '../features/sources/git/git-slots.ts';
import type { ConfiguredSources } from '../features/sources/installation.ts';
import type { NamedSource } from '../features/sources/names.ts';
import { createValuePolicy, type ValuePolicy } from '../model/schema/value-policy.ts';
import type { ServeOptions } from './serve-options.ts';

/** Id of the operator's account. Absent until the start has determined it. */
export interface OperatorAccount {
  account?: string | undefined;
}

/** Creates the policy that decides which accounts and sources may use which of the server's values. */
export function valuePolicyOf(
  {
    shareValues,
    valueGrants: grants,
    statedSources,
  }: Pick<ServeOptions, 'shareValues' | 'valueGrants' | 'statedSources'>,
  operator: OperatorAccount,
): ValuePolicy {
  const clusters = statedSources.filter(({ type }) => type === 'kubernetes').map(({ name }) => name);
  return createValuePolicy({ grants, shareValues, operatorAccount: () => operator.account, clusters });
}

type SourceContext = Pick<ConfiguredSources, 'outbound' | 'policy'> & {
  readonly account: string | undefined;
  readonly report: (level: 'info', message: string) => void;
};

/** Returns the configuration of sources that follows from the options. */
export async function configureSources(
  database: Database,
  named: readonly NamedSource[],
  options: ServeOptions,
  { account, outbound, policy, report }: SourceContext,
): Promise<ConfiguredSources> {
  const { statedSources: stated, dataDir, valuesDir, gitTransports: transports, gitEnvironment: environment } = options;
  const turns = createGitSlots(options.gitProcesses);
  const formerHosts = await readFormerHosts(database, account, report);
  return {
    named,
    stated,
    dataDir,
    valuesDir,
    transports,
    ownCluster: options.ownCluster,
    managementUrl: options.publicUrl,
    environment,
    outbound,
    policy,
    formerHosts,
    slots: turns,
    maxGitSources: options.gitSources,
  };
}

/**
 * Returns, by account, the non-public hosts that Git sources may still reach. Only the operator's account has any:
 * hosts that its sources named before addresses were checked.
 */
async function readFormerHosts(
  database: Database,
  account: string | undefined,
  report: (level: 'info', message: string) => void,
): Promise<ConfiguredSources['formerHosts']> {
  const hosts = account === undefined ? [] : await listFormerGitHosts(database, account);
  const message = `Git sources of the operator's account may reach ${hosts.join(', ')}, which they referred to before addresses were checked; other sources need HEDDLE_OUTBOUND_ALLOW to reach private addresses`;
  if (hosts.length > 0) report('info', message);
  const [known, none] = [new Set(hosts), new Set<string>()];
  return (of) => (of === account ? known : none);
}
