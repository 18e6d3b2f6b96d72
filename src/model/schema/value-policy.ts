import { plainHost } from '../../lib/net/public-address.ts';

/** A use of a server value in the documents of an account. */
export interface ValueUse {
  readonly account: string;
  readonly source: string;
  /** A push names its source itself; the name of a source that the server reads is certain. */
  readonly isPushed: boolean;
  /** As values travel with a push: `env:HEDDLE_VALUE_X` or `file:dir/name`. */
  readonly value: string;
}

/** What the operator lets sources of an account use; `source` may be `*`. */
export interface ValueGrant extends Pick<ValueUse, 'account' | 'source' | 'value'> {
  /** The file may be shown to this host as a credential, and is no value of documents. */
  readonly host?: string;
}

/** Which accounts and sources may use which of the server's values. */
export interface ValuePolicy {
  isOperator(account: string): boolean;
  /** Whether documents may name a value, and a source that the API created a file that is never shown. */
  mayUse(use: ValueUse): boolean;
  /** The hosts to which a file may be shown as a credential; `undefined` where it is bound by its first use. */
  credentialHosts(use: Pick<ValueUse, 'account' | 'source'> & { readonly file: string }): readonly string[] | undefined;
}

/** What the operator says about values. */
export interface ValuePolicyOptions {
  readonly grants: readonly ValueGrant[];
  /** Documents pushed to the operator's account may name values too. */
  readonly shareValues: boolean;
  /** The operator's account; without one there is none for which all values are. */
  operator(): string | undefined;
  /** What the names of the sources of clusters begin with. */
  readonly clusters?: readonly string[];
}

/**
 * The operator's account has all values, because they are there for it. Owners of other accounts, and authors of
 * resources in a cluster, are strangers to the operator: they have what is granted to a source by name.
 */
export function createValuePolicy({ grants, shareValues, operator, clusters = [] }: ValuePolicyOptions): ValuePolicy {
  const isFor = (grant: ValueGrant, { account, source, value }: Omit<ValueUse, 'isPushed'>) =>
    grant.account === account && (grant.source === '*' || grant.source === source) && grant.value === value;
  return {
    isOperator: (account) => account === operator(),
    mayUse(use) {
      const isOfCluster = clusters.some((name) => use.source.startsWith(`${name}.`));
      if (use.account === operator() && !isOfCluster) return !use.isPushed || shareValues;
      return !use.isPushed && grants.some((grant) => grant.host === undefined && isFor(grant, use));
    },
    credentialHosts({ account, source, file }) {
      const found = grants.filter((grant) => isFor(grant, { account, source, value: `file:${file}` }));
      const hosts = found.flatMap(({ host }) => (host === undefined ? [] : [host]));
      return hosts.length === 0 && account === operator() ? undefined : hosts;
    },
  };
}

/** Reads `ACCOUNT/SOURCE=env:NAME`, `…=file:NAME` or `…=file:NAME@HOST`; `undefined` for what is none. */
export function parseGrant(text: string): ValueGrant | undefined {
  const [, account, source, value, host] =
    /^([^/=\s]+)\/([^=\s]+)=(env:HEDDLE_VALUE_\w+|file:[^@\s]+)(?:@([^@\s]+))?$/.exec(text) ?? [];
  if (account === undefined || source === undefined || value === undefined) return undefined;
  if (host !== undefined && !value.startsWith('file:')) return undefined;
  return { account, source, value, ...(host === undefined ? {} : { host: plainHost(host) }) };
}
