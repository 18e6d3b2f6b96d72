import type { Engine } from '../../../src/commit/engine.ts';
import { createDirectorySyncs, type RequestSync } from '../../../src/features/integrations/directory/dispatcher.ts';
import type { DirectoryHosts } from '../../../src/lib/directory-hosts.ts';
import { plainOutbound as outbound } from '../../setup/outbound.ts';

/** Returns a function that syncs directories on request, on a server whose operator configured these hosts. */
export function requestsOf(hosts: DirectoryHosts = {}): (engine: Engine) => RequestSync {
  const report = () => undefined;
  return (engine) =>
    createDirectorySyncs({ engine, outbound, report, hosts, random: () => 0, leaseSeconds: 30 }).requestSync;
}
