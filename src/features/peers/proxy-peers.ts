import { peersReachingProxy } from '../../access/netmap/proxy-callers.ts';
import { storedObject } from '../../commit/bootstrap.ts';
import { planEdits } from '../../commit/edits.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import type { Lease } from '../../db/leases/leases.ts';
import { deleteProxies, type ProxyRef, readActiveProxies } from '../../db/proxy/proxies.ts';
import { type Json, parseJson } from '../../lib/json.ts';
import { Conflict } from '../../model/errors.ts';
import { canonicalSpec } from '../../model/schema/normalize.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { errorForProblems } from '../../objects/objects.ts';
import type { Edit } from '../../plan/finish.ts';
import { systemActor } from './upkeep/peers.ts';

/** A reverse proxy that joins the mesh. */
export interface JoiningProxy {
  /** Name that the proxy gives itself. */
  readonly name: string;
  readonly cluster: string;
  readonly token: string;
  /** Public key of the tunnel, in base64. */
  readonly key: string;
}

const kindName = 'ProxyPeer';

/** Adds a proxy to the mesh, where it stays until it is removed. Throws `Conflict` when a peer has the same key. */
export async function addProxyToMesh(
  engine: Engine,
  call: Call,
  joiningProxy: JoiningProxy,
): Promise<Stored<'ProxyPeer'>> {
  const id = engine.newId();
  const state = await commit(engine, call, (before) => editsFor(engine, before, joiningProxy, id));
  const [proxy] = state.lookUp(kindName, 'name', joiningProxy.name);
  if (proxy === undefined)
    throw new Conflict(
      'gone',
      `proxy ${joiningProxy.name} was removed right after its registration; register it again`,
    );
  return proxy;
}

/** Removes the proxies of a token from the mesh, or only the one of them with this name. */
export async function removeProxies(engine: Engine, call: Call, token: string, name?: string): Promise<void> {
  const leaving = (state: Snapshot) =>
    removalsOf(state, ({ derived, name: own }) => derived.token === token && (name === undefined || own === name));
  if (leaving(await engine.snapshots.fresh(call.account)).length === 0) return;
  await commit(engine, call, leaving);
}

function removalsOf(state: Snapshot, isLeaving: (proxyPeer: Stored<'ProxyPeer'>) => boolean): readonly Edit[] {
  return state.ofKind(kindName).flatMap((before) => (isLeaving(before) ? [{ before, internal: true }] : []));
}

/** Time after which a silent proxy is removed from the mesh, in seconds. */
const maxSilenceSeconds = 600;

/**
 * Removes from the mesh the proxies that were silent for too long, or whose token has ended. The changes are made under
 * the caller's lease. Returns their names. A proxy that returns has to register again.
 */
export async function removeVanishedProxies(engine: Engine, account: string, lease: Lease): Promise<readonly string[]> {
  const state = await engine.snapshots.fresh(account);
  if (state.countOf(kindName) === 0) return [];
  // Read after the state: every proxy that has a peer in the state is stored by then.
  const living = await readActiveProxies(engine.database, account, maxSilenceSeconds);
  const present = new Set(living.map(keyOf));
  const isGone = (proxyPeer: Stored<'ProxyPeer'>) => !present.has(keyOf(proxyOf(proxyPeer)));
  const gone = state.ofKind(kindName).filter(isGone).map(proxyOf);
  if (gone.length === 0) return [];
  const keys = new Set(gone.map(keyOf));
  const call = { account, revision: state.revision, actor: systemActor };
  await commit(engine, call, (now) => removalsOf(now, (proxyPeer) => keys.has(keyOf(proxyOf(proxyPeer)))), lease);
  await deleteProxies(engine.database, account, gone);
  return gone.map(({ id }) => id);
}

function proxyOf({ name, derived }: Stored<'ProxyPeer'>): ProxyRef {
  return { id: name, token: derived.token ?? '' };
}

function keyOf({ id, token }: ProxyRef): string {
  return `${token}/${id}`;
}

/**
 * Returns the peers to which a proxy has tunnels, as network maps list them. `undefined` when the proxy is not in the
 * mesh.
 */
export async function peersOfProxy(
  engine: Engine,
  state: Snapshot,
  name: string,
): Promise<readonly Json[] | undefined> {
  const [proxy] = state.lookUp(kindName, 'name', name);
  if (proxy === undefined) return undefined;
  // The entries contain JSON.
  return peersReachingProxy(await engine.access.current(state), proxy.id).map(({ text }) => parseJson(text));
}

function editsFor(engine: Engine, state: Snapshot, { name, cluster, token, key }: JoiningProxy, id: string) {
  if (state.findByUnique('Peer', 'wg_pub_key', key) !== undefined)
    throw new Conflict('taken', 'a peer with this tunnel key already exists; register with another key pair');
  const [before] = state.lookUp(kindName, 'name', name);
  const { spec } = canonicalSpec(engine.registry.get(kindName), {
    ...{ name, cluster, wg_pub_key: key },
    ...(before === undefined ? {} : { ip: before.spec.ip ?? '' }),
  });
  if (before === undefined)
    return [{ after: storedObject(engine, { id, kind: kindName, spec, derived: { token } }, engine.now()) }];
  const isSame = before.spec.cluster === cluster && before.spec.wg_pub_key === key && before.derived.token === token;
  if (isSame) return [];
  const after = { ...before, spec, derived: { ...before.derived, token }, updatedAt: engine.now() };
  return [{ before, after, internal: true as const }];
}

async function commit(
  engine: Engine,
  call: Call,
  edits: (state: Snapshot) => readonly Edit[],
  lease?: Lease,
): Promise<Snapshot> {
  const committed = await engine.committer.mutate({
    ...{ account: call.account, actor: call.actor, revision: call.revision },
    ...(lease === undefined ? {} : { lease }),
    propose: (state) => planEdits(engine, state, edits(state)),
  });
  if (!committed.ok) throw errorForProblems(committed.problems);
  return committed.after;
}
