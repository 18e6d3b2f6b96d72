import type { GitSettings } from '../config/git.ts';
import type { IdpConfig } from '../config/idp.ts';
import type { OidcConfig } from '../config/oidc.ts';
import type { ProfileConfig } from '../config/profile.ts';
import type { RetentionConfig } from '../config/retention.ts';
import type { ValuesConfig } from '../config/values.ts';
import type { Config } from '../config.ts';
import type { ServiceAddress } from '../kubernetes/connection.ts';
import type { PasswordCost } from '../model/password-cost.ts';
import type { StatedSource } from '../model/sources/stated.ts';
import type { UpstreamProxy } from '../outbound/upstream-proxy.ts';
import type { OtelSettings } from '../telemetry/otel-settings.ts';

/** Settings that a server takes as they were read. */
type ServeSetting =
  | ('sources' | 'listen' | 'metricsListen' | 'corsOrigins' | 'trustProxy' | 'openEndpoints' | 'log' | 'logLevel')
  | ('dataDir' | 'poolSize' | 'waitForDatabaseMs' | 'preparedStatements' | 'secretKey' | 'secretKeyFile' | 'valuesDir')
  | (
      | 'edition'
      | 'rateLimit'
      | 'planRateLimit'
      | 'pendingTenants'
      | 'userDeleteFromIdp'
      | 'outboundAllow'
      | 'dnsServers'
      | 'directoryHosts'
    )
  | ('leaseSeconds' | 'claimLapseSeconds')
  | Exclude<keyof IdpConfig, 'configDir'>
  | keyof (OidcConfig & GitSettings & ProfileConfig & RetentionConfig & ValuesConfig);

/** How a server is run: its settings, and what was read because of others. */
export interface ServeOptions
  extends Pick<Config, ServeSetting>,
    Partial<Pick<Config, 'geoDatabase' | 'operatorAccount'>> {
  /** Absent: the embedded database in the data directory. */
  readonly databaseUrl?: string;
  readonly bootstrapToken?: string;
  /** The token of the operator; absent: that of the data directory. */
  readonly operatorToken?: string | undefined;
  /** The mail server and the sender; absent: invitations are handed over. */
  readonly mail?: { readonly url: string; readonly from: string };
  /** Variables that documents may take secrets from. */
  readonly values: Readonly<Record<string, string>>;
  /** Sources that the file of settings states; their files and directories are absolute. */
  readonly statedSources: readonly StatedSource[];
  /** What of the environment git may see. */
  readonly gitEnvironment: Readonly<Record<string, string>>;
  /** Where the API server is of the cluster that this server runs in; absent: it runs in none. */
  readonly ownCluster?: ServiceAddress | undefined;
  /** Certificates (PEM) of authorities that are trusted at other hosts besides those that the machine trusts. */
  readonly authorities?: string | undefined;
  /** Absent: other hosts are reached without a proxy. */
  readonly upstreamProxy?: UpstreamProxy | undefined;
  /** Where spans and metrics go; absent: nowhere. */
  readonly otel?: OtelSettings | undefined;
  /** A door for tests: what hashing a password costs. */
  readonly passwordCost?: PasswordCost;
}
