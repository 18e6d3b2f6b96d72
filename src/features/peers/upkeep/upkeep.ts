import { runAccountRounds } from '../../../commit/account-rounds.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { Lease } from '../../../db/leases/leases.ts';
import { endExposures } from '../exposure/upkeep.ts';
import { removeVanished } from '../proxy-peers.ts';
import { keepPeers } from './peers.ts';

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

const usualGraceMs = 60_000;

/** Directory entries of the accounts that have peers, or proxies in the mesh. */
const entries = ['peer-key', 'proxy-token'];

/**
 * Starts the loop that maintains the peers of all accounts. Each account is processed by one server at a time. Returns
 * a function that stops the loop.
 */
export function runPeerUpkeep({ engine, server, everyMs, graceMs, report }: UpkeepOptions): () => Promise<void> {
  const graceEnds = performance.now() + (graceMs ?? usualGraceMs);
  return runAccountRounds({
    ...{ database: engine.database, subject: 'peers', lease: 'upkeep', owner: server, entries, everyMs, report },
    // Logins expire by time only, whether or not machines have reconnected.
    work: (account, lease, reportOnce) =>
      keepOne(engine, account, lease, { loginsOnly: performance.now() < graceEnds, report: reportOnce }),
  });
}

async function keepOne(
  engine: Engine,
  account: string,
  lease: Lease,
  { loginsOnly, report }: { readonly loginsOnly: boolean; readonly report: UpkeepOptions['report'] },
): Promise<void> {
  const { failed } = await keepPeers(engine, account, lease, { loginsOnly });
  for (const { peer, message } of failed) report('warn', `peer ${peer.id} (${peer.reason}): ${message}`);
  if (loginsOnly) return;
  for (const { id, failed: why } of await endExposures(engine, account, lease))
    if (why !== undefined) report('warn', `exposed service ${id}: ${why}`);
  for (const name of await removeVanished(engine, account, lease))
    report('warn', `proxy ${name}: it stopped reporting, or its token has ended; it was removed from the mesh`);
}
