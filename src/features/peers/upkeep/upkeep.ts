import type { Engine } from '../../../commit/engine.ts';
import { accountsWith } from '../../../db/accounts/directory.ts';
import { releaseLease, takeLease } from '../../../db/leases/leases.ts';
import { NotFound } from '../../../model/errors.ts';
import { endExposures } from '../exposure/upkeep.ts';
import { removeVanished } from '../proxy-peers.ts';
import { keepPeers } from './peers.ts';

/** How the loop that looks after peers runs. */
export interface UpkeepOptions {
  readonly engine: Engine;
  /** Names this process. */
  readonly server: string;
  readonly everyMs?: number;
  /** How long machines have to come back to a server that begins before anybody is taken for gone. */
  readonly graceMs?: number;
  /** Called with refusals and errors. */
  report(level: 'warn' | 'error', message: string): void;
}

const usualMs = 10_000;
const usualGraceMs = 60_000;

/** How many accounts one look is about; the next look goes on from there. */
const accountsAtOnce = 100;

/** What accounts have in the directory that have peers, or proxies in the mesh. */
const entries = ['peer-key', 'proxy-token'];

/** How long other servers leave an account to the server that works on it. */
const leaseSeconds = 60;

/** Looks after the peers of all accounts, each account on one server at a time. Returns a function that stops it. */
export function runPeerUpkeep(given: UpkeepOptions): () => Promise<void> {
  const options = { ...given, report: reportOnce(given.report) };
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let after = '';
  const graceEnds = performance.now() + (options.graceMs ?? usualGraceMs);
  const look = async (): Promise<void> => {
    try {
      after = await keepSome(options, after, performance.now() < graceEnds);
    } catch (error) {
      options.report('error', `peers: ${messageOf(error)}; it is tried again`);
    }
    if (!stopped) timer = setTimeout(start, options.everyMs ?? usualMs);
  };
  let running: Promise<void> = Promise.resolve();
  const start = (): void => {
    running = look();
  };
  // Logins expire by the clock alone, whichever machines have reconnected yet.
  timer = setTimeout(start, 0);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}

/** For how long the same message is not reported again. */
const quietMs = 3_600_000;

/** A refused step is tried again all the time, and reported once an hour. */
function reportOnce(report: UpkeepOptions['report']): UpkeepOptions['report'] {
  const reported = new Map<string, number>();
  return (level, message) => {
    const now = performance.now();
    for (const [before, at] of reported) if (at < now - quietMs) reported.delete(before);
    if (reported.has(message)) return;
    reported.set(message, now);
    report(level, message);
  };
}

/** Looks after the next accounts; returns after which one to go on. */
async function keepSome(options: UpkeepOptions, after: string, loginsOnly: boolean): Promise<string> {
  const accounts = await accountsWith(options.engine.database, entries, after, accountsAtOnce);
  for (const account of accounts) await keepOne(options, account, loginsOnly);
  return accounts.length < accountsAtOnce ? '' : (accounts.at(-1) ?? '');
}

async function keepOne({ engine, server, report }: UpkeepOptions, account: string, loginsOnly: boolean): Promise<void> {
  try {
    const lease = await takeLease(engine.database, { account, name: 'upkeep', owner: server, seconds: leaseSeconds });
    if (lease === undefined) return;
    const { failed } = await keepPeers(engine, account, lease, { loginsOnly });
    for (const { peer, message } of failed) report('warn', `peer ${peer.id} (${peer.reason}): ${message}`);
    if (loginsOnly) return await releaseLease(engine.database, lease);
    for (const { id, failed: why } of await endExposures(engine, account, lease))
      if (why !== undefined) report('warn', `exposed service ${id}: ${why}`);
    for (const name of await removeVanished(engine, account, lease))
      report('warn', `proxy ${name}: it was not heard of, or its token has ended; it lost its place in the mesh`);
    await releaseLease(engine.database, lease);
  } catch (error) {
    if (!(error instanceof NotFound)) report('error', `peers: ${messageOf(error)}; it is tried again`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
