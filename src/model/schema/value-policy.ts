import { normalizeHost } from '../../lib/net/public-address.ts';

/** Use of a server value by documents of an account. */
export interface ValueUse {
  readonly account: string;
  readonly source: string;
  /**
   * Whether the documents were pushed. The client chooses the source name of a push; the name of a source that the
   * server reads is trustworthy.
   */
  readonly isPushed: boolean;
  /** Name of the value in the form that pushes use: `env:HEDDLE_VALUE_X` or `file:dir/name`. */
  readonly value: string;
}

/** Permission from the operator for sources of an account to use a value. `source` may be `*`. */
export interface ValueGrant extends Pick<ValueUse, 'account' | 'source' | 'value'> {
  /** Host to which the file may be sent as a credential. When set, documents cannot use the file as a value. */
  readonly host?: string;
}

/** Which accounts and sources may use which values of the server. */
export interface ValuePolicy {
  isOperator(account: string): boolean;
  /** Whether documents may name a value, or a source created through the API may use a file that is never shown. */
  mayUse(use: ValueUse): boolean;
  /**
   * Returns the hosts to which a file may be sent as a credential. `undefined`: the file is bound to the host of its
   * first use.
   */
  credentialHosts(use: Pick<ValueUse, 'account' | 'source'> & { readonly file: string }): readonly string[] | undefined;
}

/** Settings of the operator about values. */
export interface ValuePolicyOptions {
  readonly grants: readonly ValueGrant[];
  /** Whether documents pushed to the operator's account may also name values of the server. */
  readonly shareValues: boolean;
  /** Returns the operator's account. `undefined`: no account may use all values. */
  operatorAccount(): string | undefined;
  /** Prefixes of the source names of clusters. */
  readonly clusters?: readonly string[];
}

/**
 * Creates the policy. The operator's account may use all values, which exist for it. The operator does not trust owners
 * of other accounts or authors of resources in a cluster: these may use only values granted to their source by name.
 */
export function createValuePolicy({
  grants,
  shareValues,
  operatorAccount,
  clusters = [],
}: ValuePolicyOptions): ValuePolicy {
  const isFor = (grant: ValueGrant, { account, source, value }: Omit<ValueUse, 'isPushed'>) =>
    grant.account === account && (grant.source === '*' || grant.source === source) && grant.value === value;
  return {
    isOperator: (account) => account === operatorAccount(),
    mayUse(use) {
      const isOfCluster = clusters.some((name) => use.source.startsWith(`${name}.`));
      if (use.account === operatorAccount() && !isOfCluster) return !use.isPushed || shareValues;
      return !use.isPushed && grants.some((grant) => grant.host === undefined && isFor(grant, use));
    },
    credentialHosts({ account, source, file }) {
      const found = grants.filter((grant) => isFor(grant, { account, source, value: `file:${file}` }));
      const hosts = found.flatMap(({ host }) => (host === undefined ? [] : [host]));
      return hosts.length === 0 && account === operatorAccount() ? undefined : hosts;
    },
  };
}

/** Parses `ACCOUNT/SOURCE=env:NAME`, `…=file:NAME` or `…=file:NAME@HOST`. Returns `undefined` for any other text. */
export function parseGrant(text: string): ValueGrant | undefined {
  const [, account, source, value, host] =
    /^([^/=\s]+)\/([^=\s]+)=(env:HEDDLE_VALUE_\w+|file:[^@\s]+)(?:@([^@\s]+))?$/.exec(text) ?? [];
  if (account === undefined || source === undefined || value === undefined) return undefined;
  if (host !== undefined && !value.startsWith('file:')) return undefined;
  return { account, source, value, ...(host === undefined ? {} : { host: normalizeHost(host) }) };
}
