import type { Call, Engine } from '../../../commit/engine.ts';
import { listPlans } from '../../../db/config/plans.ts';
import { listSyncStatus, type SyncStatusRow } from '../../../db/directory-sync/status.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { createKindNameReadCheck } from '../../../objects/object-list.ts';
import type { AccountStatus } from '../../../operations/config/status.ts';
import { type ProvidingKind, planSourceOf } from '../provisioning/provision.ts';

import { endsSoon } from '../secret-warnings.ts';
import { settingsOf } from './settings.ts';

type TroubledProvider = NonNullable<AccountStatus['provisioning']>[number];
type Trouble = Pick<TroubledProvider, 'state' | 'message'>;

/**
 * Returns what needs attention in the integrations that import users and groups, as far as the caller may read them.
 */
export async function troubledProviders(engine: Engine, call: Call): Promise<readonly TroubledProvider[]> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const isReadable = createKindNameReadCheck(state, call);
  const directories = isReadable('DirectoryIntegration') ? state.ofKind('DirectoryIntegration') : [];
  const servers = isReadable('ScimIntegration') ? state.ofKind('ScimIntegration') : [];
  const rows = directories.length === 0 ? [] : await listSyncStatus(engine.database, call.account);
  const now = engine.now();
  const synced = directories.flatMap((object) => {
    const row = rows.find((one) => one.integration_id === object.id);
    return row === undefined ? [] : syncTroubles(object, row, now).map((trouble) => troubled(object, trouble));
  });
  const pushed = await Promise.all(servers.map((object) => heldRequests(engine, call.account, object)));
  return [...synced, ...pushed.flat()];
}

function troubled({ id, kind, key }: Stored<ProvidingKind>, trouble: Trouble): TroubledProvider {
  return { id, kind, ...(key === undefined ? {} : { key }), ...trouble };
}

function syncTroubles(object: Stored<'DirectoryIntegration'>, row: SyncStatusRow, now: string): readonly Trouble[] {
  if (object.spec.enabled === false) return [];
  const { failures, waiting, last_error: error, ended_at: ended } = row;
  const since = ended === null ? 'no sync has finished yet' : `no sync since ${ended.toISOString()}`;
  return [
    ...(failures > 0 ? [{ state: 'failing', message: `${since}: ${error}` } as const] : []),
    ...(failures === 0 && waiting !== null ? [{ state: 'held', message: waiting } as const] : []),
    ...secretTrouble(object, row, now),
  ];
}

function secretTrouble(object: Stored<'DirectoryIntegration'>, row: SyncStatusRow, now: string): readonly Trouble[] {
  const { secret_ends_at: ends, secret_basis: basis } = row;
  // What is recorded about a secret that was replaced does not apply to the new one.
  if (ends === null || basis !== settingsOf(object).secretBasis) return [];
  if (!endsSoon(ends.toISOString(), now)) return [];
  const verb = ends.getTime() > Date.parse(now) ? 'ends' : 'ended';
  const message = `the client secret ${verb} on ${ends.toISOString()}: make a new one at the directory, and write it into client_secret`;
  return [{ state: 'expiring', message }];
}

/** Maximum number of plans of one integration that are named. */
const maxPlans = 5;

/** Returns the newest requests of a provider that take too much away, while their plans wait for an approval. */
async function heldRequests(
  engine: Engine,
  account: string,
  object: Stored<'ScimIntegration'>,
): Promise<readonly TroubledProvider[]> {
  if (object.spec.enabled === false) return [];
  const filter = { source: planSourceOf(object.id), states: ['needs_approval'], limit: maxPlans } as const;
  const plans = await listPlans(engine.database, account, { ...filter, validAt: engine.now() });
  return plans.map(({ id, createdAt }) =>
    troubled(object, {
      state: 'held',
      message: `a request of ${createdAt} removes too much, and nothing was changed: the plan ${id} waits for an approval (\`heddle approve ${id}\`)`,
    }),
  );
}
