import { isInGroup } from '../../../access/ruleset/groups.ts';
import { settingsOf } from '../../../commit/account-settings.ts';
import { planEdits } from '../../../commit/edits.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { ServiceMode } from '../../../model/declare/service-words.ts';
import { Conflict, InvalidInput, NotAllowed, NotFound } from '../../../model/errors.ts';
import { derivedFromId } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { isOfKind, type Stored } from '../../../model/state/stored.ts';
import { contextOf, type ObjectWithState, write } from '../../../objects/objects.ts';
import { planCreate, planDelete, planReplace, type RequestOutcome } from '../../../plan/requests/requests.ts';

/** Time for which a service is exposed unless the peer renews it, in milliseconds. */
const lifetimeMs = 10 * 60_000;

/** Maximum number of services that one peer exposes at once. */
const maxServices = 10;

/** A local service that a peer wants to offer through a cluster of proxies. */
export interface Exposure {
  readonly mode: ServiceMode;
  readonly port: number;
  /** First label of the domain. Absent: it is made of the peer's label and the port. */
  readonly name?: string;
  /** Address of the cluster. Absent: the account's own cluster, else the first one. */
  readonly cluster?: string;
  /** Ways to sign in, in the format of services. */
  readonly auth: JsonObject;
}

/** The peer that makes the request, in the state in which it was authenticated. */
export interface Exposer {
  readonly peer: Stored<'Peer'>;
  readonly state: Snapshot;
}

/** Exposes a local service of a peer for a limited time. Throws the reason when that is refused. */
export async function exposeService(engine: Engine, by: Exposer, exposure: Exposure): Promise<ObjectWithState> {
  const { account } = by.state;
  const { peers, now } = await engine.presence.read(account);
  if (peers.get(by.peer.id)?.connected !== true)
    throw new Conflict(
      'refused',
      'the peer is not connected, so the service would not be reachable; open `GET /agent/stream` first',
    );
  const kind = engine.registry.get('ProxyService');
  const call = callOf(by);
  return await write(engine, call, kind, (state) => {
    const peer = requireExposer(state, by.peer.id);
    const context = contextOf(engine, call, state, { strict: true });
    const body = bodyOf(state, peer, exposure);
    const own = exposedBy(state, peer.id);
    const same = own.find(({ spec }) => spec.domain === body['domain']);
    const until = { exposed_until: expiryOf(now) };
    if (same !== undefined) return refuseOtherSettings(planReplace(context, kind, same, body, until), same);
    if (own.length >= maxServices)
      throw new Conflict('refused', `the peer exposes ${maxServices} services already; withdraw one of them first`);
    return planCreate(context, kind, body, undefined, { derived: { derived_from: peer.id, ...until } });
  });
}

/**
 * A restarted machine does not know what it exposed. A repeated request for the same service extends it; a different
 * request for its domain is refused.
 */
function refuseOtherSettings(outcome: RequestOutcome, { id, spec }: Stored<'ProxyService'>): RequestOutcome {
  if (outcome.ok || outcome.problems.every(({ code }) => code !== 'managed_field')) return outcome;
  throw new Conflict(
    'taken',
    `the peer already exposes \`${spec.domain}\` with other settings, as the service ${id}; withdraw that service first`,
  );
}

/** Extends an exposed service for another full period. Throws `NotFound` when the peer does not expose it. */
export async function renewExposure(engine: Engine, by: Exposer, id: string): Promise<ObjectWithState> {
  const { now } = await engine.presence.read(by.state.account);
  const kind = engine.registry.get('ProxyService');
  const call = callOf(by);
  return await write(engine, call, kind, (state) => {
    const service = requireOwnService(state, requireExposer(state, by.peer.id), id);
    const derived = { ...service.derived, exposed_until: expiryOf(now) };
    const edit = { before: service, after: { ...service, derived, updatedAt: engine.now() } };
    return { ...planEdits(engine, state, [edit]), id, ignored: [] };
  });
}

/** Ends an exposed service. Throws `NotFound` when the peer does not expose it. */
export async function withdrawExposure(engine: Engine, by: Exposer, id: string): Promise<void> {
  const kind = engine.registry.get('ProxyService');
  const call = callOf(by);
  await write(engine, call, kind, (state) =>
    planDelete(contextOf(engine, call, state, { strict: false }), kind, requireOwnService(state, by.peer, id)),
  );
}

/** Returns the time at which an exposed service ends, in ISO 8601. `undefined` for services that no peer exposes. */
export function exposedUntil({ derived }: Stored<'ProxyService'>): string | undefined {
  return derived.exposed_until;
}

/** Returns a peer as an actor. */
export function actorOf({ id, name }: Pick<Stored<'Peer'>, 'id' | 'name'>): Actor {
  return { type: 'system', id, name };
}

function callOf({ peer, state }: Exposer): Call {
  return { account: state.account, actor: actorOf(peer), revision: state.revision };
}

function expiryOf(now: string): string {
  return new Date(Date.parse(now) + lifetimeMs).toISOString();
}

/** Returns the peer in its current state. Throws unless the account lets it expose services. */
function requireExposer(state: Snapshot, id: string): Stored<'Peer'> {
  const peer = state.find('Peer', id);
  if (peer === undefined) throw new NotFound(`peer ${id} not found`);
  const why = exposeRefusalOf(state, peer);
  if (why !== undefined) throw new NotAllowed(why);
  return peer;
}

/** Returns why a peer may not expose services, `undefined` when it may. */
export function exposeRefusalOf(state: Snapshot, { id, spec }: Stored<'Peer'>): string | undefined {
  if (spec.approval_required === true)
    return 'the peer waits for the approval of an administrator and cannot expose services until then';
  const { peer_expose_enabled: enabled, peer_expose_groups: allowed = [] } = settingsOf(state);
  if (enabled !== true)
    return 'peers of this account may not expose services: `peer_expose_enabled` is off; ask an administrator to turn it on';
  if (allowed.length === 0 || allowed.some((group) => isInGroup(state, group, id))) return undefined;
  return 'the peer is in none of the groups that may expose services (`peer_expose_groups`); ask an administrator to add it to one';
}

function exposedBy(state: Snapshot, peer: string): readonly Stored<'ProxyService'>[] {
  const referrers = state.referrersOf(peer).map(({ from }) => from);
  return referrers.filter((from) => isOfKind(from, 'ProxyService')).filter((from) => derivedFromId(from) === peer);
}

function requireOwnService(state: Snapshot, peer: Stored<'Peer'>, id: string): Stored<'ProxyService'> {
  const service = state.find('ProxyService', id);
  if (service !== undefined && exposedUntil(service) !== undefined && derivedFromId(service) === peer.id)
    return service;
  throw new NotFound(`exposed service ${id} not found: it was withdrawn, has expired, or is another peer's`);
}

function bodyOf(state: Snapshot, peer: Stored<'Peer'>, exposure: Exposure): JsonObject {
  const { mode, port, auth } = exposure;
  const suffix = `-${port}`;
  const label = exposure.name ?? `${(peer.spec.dns_label ?? '').slice(0, 63 - suffix.length)}${suffix}`;
  const target = { target_id: peer.id, target_type: 'peer', port, enabled: true };
  return {
    ...{ name: label, domain: `${label}.${clusterFor(state, exposure.cluster)}`, mode, enabled: true, auth },
    targets: [{ ...target, protocol: mode === 'tls' ? 'tcp' : mode }],
  };
}

/** Returns the address of the cluster that serves the domain. */
function clusterFor(state: Snapshot, requested: string | undefined): string {
  const clusters = state.ofKind('ProxyCluster');
  const own = clusters.find(({ spec }) => spec.type === 'account');
  const found = requested === undefined ? (own ?? clusters[0]) : clusters.find(({ name }) => name === requested);
  if (found !== undefined) return found.name;
  if (requested === undefined)
    throw new Conflict('refused', 'the account has no cluster of proxies that can serve this; register a proxy first');
  const message = `the account has no cluster of proxies \`${requested}\`; name another one, or leave \`cluster\` out`;
  throw new InvalidInput(message, { problems: [{ code: 'cluster_unknown', path: '/cluster', message }] });
}
