import { programVersion } from '../version.ts';
import type { ServeOptions } from './serve-options.ts';

/** Returns the options that only the HTTP interface needs. */
export function settingsOfApi({
  openEndpoints,
  planRateLimit,
  pendingTenants,
  profile,
  profileHeader,
  corsOrigins,
  trustProxy,
  rateLimit,
  edition,
  logLevel,
}: ServeOptions) {
  const limit = rateLimit ?? (edition === 'hosted' ? { perMinute: 120, burst: 1200 } : 'off');
  return {
    version: programVersion(),
    openEndpoints,
    planRateLimit,
    pendingTenants,
    profile: { profile, allowsHeader: profileHeader },
    corsOrigins,
    trustProxy,
    rateLimit: limit,
    logsDebug: logLevel === 'debug',
  };
}
