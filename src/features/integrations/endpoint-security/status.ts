import { disapprovalOf, peersDecidedBy } from '../../../access/ruleset/verdicts.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import type { PresenceImage } from '../../../commit/presence.ts';
import {
  acceptDeviceLoss,
  type IntegrationStatusRow,
  listIntegrationStatus,
  scheduleSync,
} from '../../../db/endpoint-security/status.ts';
import type { ActivityCode } from '../../../model/declare/activities.ts';
import { Conflict, NotFound } from '../../../model/errors.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { createKindNameReadCheck } from '../../../objects/object-list.ts';
import type { EndpointSecurity } from '../../../operations/config/endpoint-security.ts';
import type { AccountStatus } from '../../../operations/config/status.ts';
import { requireRight } from '../../../plan/checks/authorize.ts';
import { endsSoon } from '../secret-warnings.ts';
import { describeIntegration, integrationKinds } from './integrations.ts';
import { isChecked } from './sync.ts';

type TroubledIntegration = NonNullable<AccountStatus['endpointSecurity']>[number];

/** Returns the state of the account's endpoint security integrations that the caller may read. */
export async function showEndpointSecurity(engine: Engine, call: Call): Promise<readonly EndpointSecurity[]> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const objects = readableIntegrations(state, call);
  if (objects.length === 0) return [];
  const rows = await listIntegrationStatus(engine.database, call.account);
  const image = await engine.presence.read(call.account);
  return objects.map((object) =>
    view(
      state,
      object,
      image,
      rows.find((row) => row.integration_id === object.id),
    ),
  );
}

/** Returns the integrations that need attention: they fail, wait for an approval, or are not trusted any more. */
export async function troubledEndpointSecurity(engine: Engine, call: Call): Promise<readonly TroubledIntegration[]> {
  return (await showEndpointSecurity(engine, call))
    .filter(({ state }) => troubles.includes(state))
    .map(({ vendor, kind, key, state, message }) => ({
      ...{ vendor, kind, ...(key === undefined ? {} : { key }), state, message },
    }));
}

const troubles: readonly EndpointSecurity['state'][] = ['failing', 'held', 'untrusted'];

function readableIntegrations(state: Snapshot, call: Call): readonly StoredObject[] {
  const isReadable = createKindNameReadCheck(state, call);
  return integrationKinds.filter(isReadable).flatMap((kind) => state.ofKind(kind));
}

function view(
  state: Snapshot,
  object: StoredObject,
  image: PresenceImage,
  row: IntegrationStatusRow | undefined,
): EndpointSecurity {
  const { kind, key } = object;
  const { platform: vendor, product, credentialBasis } = describeIntegration(object);
  const warning = expiryWarning(row, credentialBasis, image.now);
  const peers = countPeers(state, object.id, image);
  const standing = stateOf(object, row);
  return {
    ...{ vendor, kind, ...(key === undefined ? {} : { key }) },
    ...{
      state: standing,
      message: `${messageOf(standing, product, row, peers)}${warning}`,
      deciding: row?.decides === true,
      peers,
    },
    ...omitMissing({ devices: row?.devices, foundDevices: row?.doubted }),
    failures: row?.failures ?? 0,
    ...omitMissing({
      lastSyncedAt: row?.last_synced_at?.toISOString(),
      lastError: row?.last_error,
      lastErrorAt: row?.last_error_at?.toISOString(),
      nextSyncAt: row?.next_at?.toISOString(),
    }),
  };
}

/**
 * Returns the warning about credentials that end soon. What is recorded about credentials that were replaced does not
 * apply to the new ones.
 */
function expiryWarning(row: IntegrationStatusRow | undefined, basis: string, now: string): string {
  const ends = row?.credential_basis === basis ? row.credential_ends_at?.toISOString() : undefined;
  if (ends === undefined || !endsSoon(ends, now)) return '';
  return `; its credentials end on ${ends}: create new ones in the product, and write them into the integration`;
}

/** Returns the members that have a value. */
function omitMissing<Members extends object>(
  members: Members,
): { readonly [Name in keyof Members]?: NonNullable<Members[Name]> } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  // The cast is safe: members without a value were removed.
  return Object.fromEntries(given) as { readonly [Name in keyof Members]?: NonNullable<Members[Name]> };
}

type State = EndpointSecurity['state'];

function stateOf({ spec }: StoredObject, row: IntegrationStatusRow | undefined): State {
  if (spec['enabled'] === false) return 'disabled';
  if (row === undefined) return 'waiting';
  if (row.untrusted !== null) return 'untrusted';
  if (row.doubted !== null) return 'held';
  if (row.failures > 0) return 'failing';
  return row.decides ? 'synced' : 'waiting';
}

function messageOf(
  state: State,
  product: string,
  row: IntegrationStatusRow | undefined,
  { approved, denied }: EndpointSecurity['peers'],
): string {
  const error = row?.last_error ?? '';
  const kept = row?.decides === true ? 'the last verdicts stay in effect' : 'it keeps no peer out';
  switch (state) {
    case 'disabled':
      return 'it is disabled, and keeps no peer out';
    case 'waiting':
      return `${product} has not been queried for all devices yet; it keeps no peer out until then`;
    case 'synced':
      return `${product} lets ${approved} ${approved === 1 ? 'peer' : 'peers'} in and keeps ${denied} out`;
    case 'held':
      return error;
    case 'failing':
      return `${error}; it is tried again, and until that succeeds, ${kept}`;
    case 'untrusted':
      return `${row?.untrusted}, so it lets no peer of its groups in: ${error}`;
    default:
      return state satisfies never;
  }
}

function countPeers(state: Snapshot, id: string, image: PresenceImage): EndpointSecurity['peers'] {
  const untrusted = image.deciding.get(id);
  const problemsByPeer = new Map(
    [...image.peers].flatMap(([peer, { verdicts }]) => (verdicts === undefined ? [] : [[peer, verdicts]])),
  );
  const verdicts = { deciding: new Map(untrusted === undefined ? [] : [[id, untrusted]]), problemsByPeer };
  const peers = [...new Set(peersDecidedBy(state, id))].flatMap((peer) => state.find('Peer', peer) ?? []);
  const denied = peers.filter((peer) => disapprovalOf(peer, state, verdicts) !== undefined).length;
  const unchecked = peers.filter((peer) => peer.derived.temporary !== true && !isChecked(image, peer.id, id)).length;
  return { approved: peers.length - denied, denied, unchecked };
}

/** Has a product queried at once. Throws `NotFound`. */
export async function syncNow(engine: Engine, call: Call, vendor: string): Promise<void> {
  await scheduleSync(engine.database, await prepare(engine, call, vendor, 'integrated-validator.sync.requested'));
  engine.notices.publish({ what: 'verdicts', account: call.account });
}

/** Approves that a product lost many devices. Throws `NotFound`, and `Conflict` when no sync waits for an approval. */
export async function approveLoss(engine: Engine, call: Call, vendor: string): Promise<{ readonly devices: number }> {
  const action = await prepare(engine, call, vendor, 'integrated-validator.sync.approved');
  const devices = await acceptDeviceLoss(engine.database, action);
  if (devices === undefined)
    throw new Conflict(
      'precondition',
      `no sync of ${vendor} waits for an approval; \`heddle endpoint-security\` shows its state`,
    );
  engine.notices.publish({ what: 'verdicts', account: call.account });
  return { devices };
}

/** Checks that the caller may read and change the integration. Returns the action with its audit event. */
async function prepare(engine: Engine, call: Call, vendor: string, code: ActivityCode) {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const object = readableIntegrations(state, call).find((one) => describeIntegration(one).platform === vendor);
  if (object === undefined) throw new NotFound(`there is no integration with ${vendor}`);
  requireRight(state, call.actor, engine.registry.get(object.kind).module, 'update');
  const event = { code, target: object.id, meta: { platform: vendor } };
  const entry = { actor: call.actor, event, at: engine.now() };
  return { account: call.account, integration: object.id, entry };
}
