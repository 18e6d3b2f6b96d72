import type { Call, Engine } from '../../commit/engine.ts';
import { type ProxyRef, recordProxyConnection, registerProxy } from '../../db/proxy/proxies.ts';
import type { ProxyTokenOwner } from '../../db/proxy/proxy-tokens.ts';
import type { JsonObject } from '../../lib/json.ts';
import { canonicalDomain } from '../../lib/net/domain.ts';
import { Conflict, NotAllowed, NotFound } from '../../model/errors.ts';
import type { InputOf } from '../../model/operation/operation.ts';
import { asKind, type Stored } from '../../model/state/stored.ts';
import { createObject, replaceObject } from '../../objects/objects.ts';
import type { proxy } from '../../operations/proxy.ts';
import { addProxyToMesh, type JoiningProxy, removeProxies } from '../peers/proxy-peers.ts';

/** An authenticated proxy. */
export interface AuthenticatedProxy extends ProxyRef {
  readonly account: string;
  readonly cluster: string;
}

/** Answer to the registration of a proxy. */
export interface Registered {
  readonly proxy_id: string;
  readonly cluster: { readonly id: string; readonly address: string };
  /** Interval at which the proxy should send a heartbeat, in seconds. */
  readonly heartbeat_interval: number;
  /** Peer of the proxy in the mesh. Absent when the proxy sent no tunnel key. */
  readonly peer?: { readonly id: string; readonly ip: string };
}

type Registration = InputOf<typeof proxy.register>['body'];

const heartbeatSeconds = 30;
const abilities = ['supports_custom_ports', 'require_subdomain', 'supports_reputation', 'private'] as const;

/**
 * Registers a proxy. Its cluster is created or updated with the abilities that the proxy reports. With a tunnel key,
 * the proxy joins the mesh.
 */
export async function registerProxyOfOwner(
  engine: Engine,
  owner: ProxyTokenOwner,
  { proxy_id: id, address, version = '', wg_pub_key: key, ...offered }: Registration,
): Promise<Registered> {
  const given = Object.fromEntries(
    abilities.flatMap((name): readonly (readonly [string, boolean])[] => {
      const ability = offered[name];
      return ability === undefined ? [] : [[name, ability]];
    }),
  );
  const cluster = await ensureCluster(engine, owner, { address, type: 'account', ...given });
  const proxy = { id, token: owner.token, cluster: cluster.id, version };
  if (!(await registerProxy(engine.database, owner.account, proxy)))
    throw new NotAllowed(`a proxy \`${id}\` registered with another token; choose another \`proxy_id\``);
  const joiningProxy = { name: id, cluster: cluster.id, token: owner.token, key };
  const peer = await joinOrLeaveMesh(engine, callFor(owner), joiningProxy).catch(async (error: unknown) => {
    // A proxy that is refused does not count as connected.
    await recordProxyConnection(engine.database, owner.account, proxy, false);
    throw error;
  });
  return {
    proxy_id: id,
    cluster: { id: cluster.id, address: cluster.name },
    heartbeat_interval: heartbeatSeconds,
    ...(peer === undefined ? {} : { peer: { id: peer.id, ip: peer.spec.ip ?? '' } }),
  };
}

/** Ends a registration. The proxy counts as disconnected, and is removed from the mesh. */
export async function unregisterProxy(engine: Engine, owner: ProxyTokenOwner, name: string): Promise<void> {
  const { id, token } = await recordHeartbeat(engine, owner, name, false);
  await removeProxies(engine, callFor(owner), token, id);
}

/** Returns the peer of a proxy in the mesh. A proxy that registers without a key is removed from the mesh. */
async function joinOrLeaveMesh(
  engine: Engine,
  call: Call,
  joiningProxy: Omit<JoiningProxy, 'key'> & { readonly key: string | undefined },
): Promise<Stored<'ProxyPeer'> | undefined> {
  const { key } = joiningProxy;
  if (key !== undefined) return await addProxyToMesh(engine, call, { ...joiningProxy, key });
  await removeProxies(engine, call, joiningProxy.token, joiningProxy.name);
  return undefined;
}

/** Returns the call of a proxy, whose actor is its token. */
function callFor({ account, revision, token, name }: ProxyTokenOwner): Call {
  return { account, revision, actor: { type: 'system', id: token, name: `proxy token ${name}` } };
}

/**
 * Records that a proxy is alive. Throws `NotFound` when the proxy has to register, because the proxy is unknown or its
 * cluster was deleted.
 */
export async function recordHeartbeat(
  engine: Engine,
  owner: ProxyTokenOwner,
  id: string,
  connected = true,
): Promise<AuthenticatedProxy> {
  const proxy = { id, token: owner.token };
  const cluster = await recordProxyConnection(engine.database, owner.account, proxy, connected);
  const state = await engine.snapshots.atLeast(owner.account, owner.revision);
  if (cluster === undefined || state.get(cluster) === undefined)
    throw new NotFound(`proxy ${id} not found: register it first`);
  return { ...proxy, account: owner.account, cluster };
}

/**
 * Returns the account's own cluster with an address. Creates it when it is missing, and updates it when the proxy
 * reports other abilities.
 */
async function ensureCluster(
  engine: Engine,
  owner: ProxyTokenOwner,
  body: JsonObject,
): Promise<Stored<'ProxyCluster'>> {
  const kind = engine.registry.get('ProxyCluster');
  const call = callFor(owner);
  const address = canonicalDomain(String(body['address'])) ?? '';
  const find = async () =>
    (await engine.snapshots.fresh(owner.account)).findByUnique('ProxyCluster', 'own_address', address);
  const present = await find();
  // Checked before anything is created: a token of one cluster neither creates another cluster nor reveals whether it
  // exists.
  if (owner.cluster !== null && owner.cluster !== present?.id)
    throw new NotAllowed(
      `the token \`${owner.name}\` is for the proxies of another cluster; make a token for the proxies of ${body['address']}`,
    );
  if (present === undefined) {
    try {
      return asKind((await createObject(engine, call, kind, body, { strict: false })).object, 'ProxyCluster');
    } catch (error) {
      // Another proxy of the cluster registered at the same moment.
      if (!(error instanceof Conflict) || error.reason !== 'taken') throw error;
    }
  }
  const cluster = present ?? (await find());
  if (cluster === undefined) throw new NotFound(`cluster ${address} not found: it was removed; register again`);
  const isSame = abilities.every((name) => body[name] === undefined || cluster.spec[name] === body[name]);
  if (isSame) return cluster;
  const whole = { ...cluster.spec, ...body };
  return asKind((await replaceObject(engine, call, kind, cluster.id, whole, { strict: false })).object, 'ProxyCluster');
}
