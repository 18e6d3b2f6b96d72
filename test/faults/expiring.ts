import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import type { Database } from '../../src/db/database.ts';
import { apiOn, type TestApi, token } from '../api/setup.ts';
import { newMachine } from '../peers/machine.ts';
import { programFile } from '../setup/bundle.ts';
import { testDatabase } from '../setup/database.ts';
import { addPeers } from '../setup/peers.ts';
import { serverProcess } from '../setup/server-process.ts';

/** Number of peers: more than one step of the upkeep handles. */
const peers = 300;

/** State of the account regarding expired logins. */
interface Look {
  readonly expired: number;
  readonly events: number;
  readonly targets: number;
  readonly owner: string | null;
  readonly fence: number;
}

/**
 * Runs two processes that maintain an account with 300 expired logins, and kills and restarts the process that has the
 * lease. Expects that every login expires once.
 */
export async function expireWhileKilling(): Promise<void> {
  await using made = await testDatabase('postgres');
  await using own = await apiOn(made.database, async () => undefined);
  await fill(own);
  const { database } = own.engine;
  const keepers = new Map(['one', 'two'].map((name) => [name, startKeeper(made.url ?? '', name)]));
  try {
    await expect.poll(async () => (await look(database)).events).toBeGreaterThan(0);
    const owner = (await look(database)).owner ?? 'one';
    await kill(keepers.get(owner));
    // Ends the lease at once. Otherwise it would expire after a minute.
    await database.asOwner(["update leases set until = clock_timestamp() where name = 'upkeep'"]);
    keepers.set(owner, startKeeper(made.url ?? '', owner));
    await expect.poll(async () => (await look(database)).expired).toBe(peers + 1);
    const { fence } = await look(database);
    // A process that takes the lease now finds nothing to do.
    await expect.poll(async () => (await look(database)).fence).toBeGreaterThan(fence + 3);
    expect(await look(database)).toMatchObject({ expired: peers + 1, events: peers + 1, targets: peers + 1 });
  } finally {
    await Promise.all([...keepers.values()].map(kill));
  }
}

/** Creates peers whose users signed in too long ago. */
async function fill(own: TestApi): Promise<void> {
  const [account] = (await own.call('GET', '/api/accounts')).body;
  const settings = { ...account.settings, peer_login_expiration_enabled: true, peer_login_expiration: 3600 };
  await own.call('PUT', `/api/accounts/${account.id}`, { ...account, settings });
  const user_id = (await own.call('GET', '/api/users/current')).body.id;
  const labels = Array.from({ length: peers }, (_, at) => `peer-${at}`);
  await addPeers(own.engine, own.account, labels, { user_id, login_expiration_enabled: true });
  // A machine that enrols with keys adds the directory entry by which the upkeep finds the account.
  await newMachine(own).enrol({}, { authorization: `Bearer ${token}` });
  await own.engine.database.asOwner([
    "insert into peer_status (account_id, peer_id) select account_id, id from objects where kind = 'Peer' on conflict do nothing",
    `update peer_status set last_seen = now() - interval '2 hours', last_login = now() - interval '2 hours',
      written = pg_current_xact_id()`,
  ]);
}

function startKeeper(url: string, name: string): ChildProcess {
  return fork(programFile('test/faults/keeper.ts'), [url, name], serverProcess());
}

async function kill(keeper: ChildProcess | undefined): Promise<void> {
  if (keeper === undefined || keeper.exitCode !== null || keeper.signalCode !== null) return;
  keeper.kill('SIGKILL');
  await once(keeper, 'exit');
}

async function look(database: Database): Promise<Look> {
  const [row] = await database.lookUp(
    statement<Look>(
      `select (select count(*)::int from objects where kind = 'Peer' and derived ->> 'login_expired' = 'true') as expired,
        (select count(*)::int from audit_events where activity_code = 'peer.login.expire') as events,
        (select count(distinct target_id)::int from audit_events where activity_code = 'peer.login.expire') as targets,
        (select owner from leases where name = 'upkeep') as owner,
        coalesce((select fence::int from leases where name = 'upkeep'), 0) as fence`,
      [],
    ),
  );
  if (row === undefined) throw new Error('the query answers one row');
  return row;
}
