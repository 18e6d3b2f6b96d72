import { peersAround } from '../access/map/around.ts';
import type { Json } from '../lib/json.ts';
import { canonicalSpec } from '../model/canonical.ts';
import { Conflict } from '../model/errors.ts';
import type { StoredObject } from '../model/object.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Edit } from '../plan/finish.ts';
import { storedObject } from './bootstrap.ts';
import { planEdits } from './edits.ts';
import type { Call, Engine } from './engine.ts';
import { refusalOf } from './objects.ts';

/** A reverse proxy that takes its place in the mesh. */
export interface ProxyPlace {
  /** By which it calls itself. */
  readonly name: string;
  readonly cluster: string;
  readonly token: string;
  /** The public key of its tunnel, in base64. */
  readonly key: string;
}

const kindName = 'ProxyPeer';

/** Gives a proxy its place in the mesh, where it stays until it is taken. Throws `Conflict` when others have the key. */
export async function placeProxy(engine: Engine, call: Call, place: ProxyPlace): Promise<StoredObject> {
  const id = engine.newId();
  const state = await commit(engine, call, (before) => editsFor(engine, before, place, id));
  const [proxy] = state.lookUp(kindName, 'name', place.name);
  if (proxy === undefined) throw new Conflict('gone', `proxy ${place.name} lost its place at once; register it again`);
  return proxy;
}

/** Takes proxies out of the mesh: those of a token, or the one of this name among them. */
export async function removeProxies(engine: Engine, call: Call, token: string, name?: string): Promise<void> {
  const leaving = (state: Snapshot) =>
    state
      .ofKind(kindName)
      .filter(({ derived, name: own }) => derived['token'] === token && (name === undefined || own === name));
  if (leaving(await engine.snapshots.fresh(call.account)).length === 0) return;
  await commit(engine, call, (state) => leaving(state).map((before) => ({ before, internal: true })));
}

/** The peers with which a proxy keeps tunnels, as maps tell of them; `undefined` when it has no place in the mesh. */
export async function peersOfProxy(
  engine: Engine,
  state: Snapshot,
  name: string,
): Promise<readonly Json[] | undefined> {
  const [proxy] = state.lookUp(kindName, 'name', name);
  if (proxy === undefined) return undefined;
  // Entries are written as JSON.
  return peersAround(await engine.access.of(state), proxy.id).map(({ text }) => JSON.parse(text) as Json);
}

function editsFor(engine: Engine, state: Snapshot, { name, cluster, token, key }: ProxyPlace, id: string) {
  if (state.holderOf('Peer', 'wg_pub_key', key) !== undefined)
    throw new Conflict('taken', 'a peer with this tunnel key already exists; register with a key pair of its own');
  const [before] = state.lookUp(kindName, 'name', name);
  const { spec } = canonicalSpec(engine.registry.get(kindName), {
    ...{ name, cluster, wg_pub_key: key },
    ...(before === undefined ? {} : { ip: before.spec['ip'] ?? '' }),
  });
  if (before === undefined)
    return [{ after: storedObject(engine, { id, kind: kindName, spec, derived: { token } }, engine.now()) }];
  const isSame =
    before.spec['cluster'] === cluster && before.spec['wg_pub_key'] === key && before.derived['token'] === token;
  if (isSame) return [];
  const after = { ...before, spec, derived: { ...before.derived, token }, updatedAt: engine.now() };
  return [{ before, after, internal: true as const }];
}

async function commit(engine: Engine, call: Call, edits: (state: Snapshot) => readonly Edit[]): Promise<Snapshot> {
  const committed = await engine.committer.mutate({
    ...{ account: call.account, actor: call.actor, revision: call.revision },
    propose: (state) => planEdits(engine, state, edits(state)),
  });
  if (!committed.ok) throw refusalOf(committed.problems);
  return committed.after;
}
