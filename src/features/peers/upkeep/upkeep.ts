import { runAccountRounds } from '../../../commit/account-rounds.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { Lease } from '../../../db/leases/leases.ts';
import { endExposures } from '../exposure/end-exposures.ts';
import { removeVanishedProxies } from '../proxy-peers.ts';
import { maintainPeers } from './peers.ts';

/** Options of the loop that maintains peers. */
export interface UpkeepOptions {
  readonly engine: Engine;
  /** Id of this process. */
  readonly server: string;
  readonly everyMs?: number;
  /**
   * Time for machines to reconnect after the start of the server, in milliseconds. Until then, no peer counts as
   * disconnected.
   */
  readonly graceMs?: number;
  /** Called with refusals and errors. */
  report(level: 'warn' | 'error', message: string): void;
}

const defaultGraceMs = 60_000;

/** Directory entries of the accounts that have peers, or proxies in the mesh. */
const accountEntries = ['peer-key', 'proxy-token'];

/**
 * Starts the loop that maintains the peers of all accounts. Each account is processed by one server at a time. Returns
 * a function that stops the loop.
 */
export function runPeerUpkeep({ engine, server, everyMs, graceMs, report }: UpkeepOptions): () => Promise<void> {
  const graceEnds = performance.now() + (graceMs ?? defaultGraceMs);
  return runAccountRounds({
    ...{
      database: engine.database,
      subject: 'peers',
      lease: 'upkeep',
      owner: server,
      entries: accountEntries,
      everyMs,
      report,
    },
    // Logins expire by time only, whether or not machines have reconnected.
    work: (account, lease, reportOnce) =>
      maintainAccount(engine, account, lease, { loginsOnly: performance.now() < graceEnds, report: reportOnce }),
  });
}

async function maintainAccount(
  engine: Engine,
  account: string,
  lease: Lease,
  { loginsOnly, report }: { readonly loginsOnly: boolean; readonly report: UpkeepOptions['report'] },
): Promise<void> {
  const { failed } = await maintainPeers(engine, account, lease, { loginsOnly });
  for (const { peer, message } of failed) report('warn', `peer ${peer.id} (${peer.reason}): ${message}`);
  if (loginsOnly) return;
  for (const { id, failed: why } of await endExposures(engine, account, lease))
    if (why !== undefined) report('warn', `exposed service ${id}: ${why}`);
  for (const name of await removeVanishedProxies(engine, account, lease))
    report('warn', `proxy ${name}: it stopped reporting, or its token has ended; it was removed from the mesh`);
}
