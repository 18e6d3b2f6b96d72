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

/** Settings that are passed to the server unchanged. */
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

/** Options of a server: its settings, and values that were read or derived from other settings. */
export interface ServeOptions
  extends Pick<Config, ServeSetting>,
    Partial<Pick<Config, 'geoDatabase' | 'operatorAccount'>> {
  /** Absent: the embedded database in the data directory. */
  readonly databaseUrl?: string;
  readonly bootstrapToken?: string;
  /** Token of the operator. Absent: the token in the data directory. */
  readonly operatorToken?: string | undefined;
  /** URL of the mail server, and the sender. Absent: the caller who invites a user delivers the link. */
  readonly mail?: { readonly url: string; readonly from: string };
  /** Values of environment variables that documents may use as secrets. */
  readonly values: Readonly<Record<string, string>>;
  /** Sources from the server's settings file. Their file and directory paths are absolute. */
  readonly statedSources: readonly StatedSource[];
  /** Environment variables that are passed to git. */
  readonly gitEnvironment: Readonly<Record<string, string>>;
  /** Address of the API server of the Kubernetes cluster in which this server runs. Absent outside a cluster. */
  readonly ownCluster?: ServiceAddress | undefined;
  /**
   * Certificates (PEM) of certificate authorities that are trusted for other hosts, in addition to those that the
   * machine trusts.
   */
  readonly authorities?: string | undefined;
  /** Absent: other hosts are reached directly. */
  readonly upstreamProxy?: UpstreamProxy | undefined;
  /** Where spans and metrics are exported to. Absent: they are not exported. */
  readonly otel?: OtelSettings | undefined;
  /** For tests only: cost of hashing a password. */
  readonly passwordCost?: PasswordCost;
}
