import type { Engine } from '../../commit/engine.ts';
import { asObjects, type JsonObject } from '../../lib/json.ts';
import type { State } from '../../model/declare/kind.ts';
import { defaultPort } from '../../model/declare/service-words.ts';
import { lowerToCanonical } from '../../model/lower/response.ts';
import {
  openSecret,
  revealSecrets,
  type SecretField,
  type SecretPath,
  sealContextOf,
} from '../../model/schema/secret-fields.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { readObserved } from '../../objects/observed.ts';
import { peersOfProxy } from '../peers/proxy-peers.ts';
import type { AuthenticatedProxy } from './registration.ts';

/** A message to a proxy. */
export interface ServiceMessage {
  readonly id: string;
  readonly type: 'state' | 'change';
  readonly data: JsonObject;
}

/** Reader that follows the services of a cluster. */
export interface ServiceReader {
  /** Returns everything at first, then only the changes. `undefined` when nothing changed. */
  next(): Promise<ServiceMessage | undefined>;
}

/**
 * Creates a reader of the services that a proxy serves, with the secrets that the proxy has to check. For a proxy in
 * the mesh, it also returns the peers that may reach the proxy.
 */
export function followServices(engine: Engine, { account, cluster, id: name }: AuthenticatedProxy): ServiceReader {
  let known: ReadonlyMap<string, string> | undefined;
  let around: string | undefined;
  let seen = -1;
  return {
    async next() {
      const state = await engine.snapshots.fresh(account);
      // A change in the proof of a domain makes no revision.
      if (state.revision === seen && state.countOf('ProxyDomain') === 0) return undefined;
      seen = state.revision;
      const before = known;
      const services = await servicesOf(engine, state, cluster);
      known = new Map(services.map((service) => [String(service['id']), contentOf(service)]));
      const peers = await peersOfProxy(engine, state, name);
      const text = peers === undefined ? undefined : JSON.stringify(peers);
      const moved = text === around ? {} : { peers: peers ?? [] };
      around = text;
      const { revision } = state;
      const id = String(revision);
      if (before === undefined) return { id, type: 'state', data: { revision, services, ...moved } };
      const put = services.filter((service) => before.get(String(service['id'])) !== contentOf(service));
      const removed = [...before.keys()].filter((service) => !known?.has(service));
      if (put.length === 0 && removed.length === 0 && !('peers' in moved)) return undefined;
      return { id, type: 'change', data: { revision, put, removed, ...moved } };
    },
  };
}

/** Returns what a proxy works with. A revision alone, such as one that changes only a spelling, is no change to it. */
function contentOf({ version: _, ...content }: JsonObject): string {
  return JSON.stringify(content);
}

/** Returns the services of a cluster, as its proxies need them. Empty for a deleted cluster. */
async function servicesOf(engine: Engine, state: Snapshot, cluster: string): Promise<readonly JsonObject[]> {
  return (await renderServices(engine, state, cluster)).map(({ service, shown: { meta: _, ...shown } }) => {
    const { spec } = engine.registry.get(service.kind);
    const open = (text: string, path: SecretPath, field: SecretField) =>
      openSecret(field, text, sealContextOf(state.account, service.id, path), engine.planEnvironment.vault);
    const revealed = { ...shown, ...revealSecrets(spec, shown, service.spec, open) };
    return {
      ...revealed,
      targets: asObjects(revealed['targets'] ?? []).map(withPort),
      version: service.updatedRevision,
    };
  });
}

/** Returns a target with the port that its proxy connects to. */
function withPort(target: JsonObject): JsonObject {
  const usual = target['port'] === 0 ? defaultPort(String(target['protocol'])) : undefined;
  return usual === undefined ? target : { ...target, port: usual };
}

/** Returns the ids of the services of a cluster. */
export async function servedServiceIds(engine: Engine, state: Snapshot, cluster: string): Promise<ReadonlySet<string>> {
  return new Set((await renderServices(engine, state, cluster)).map(({ service }) => service.id));
}

async function renderServices(engine: Engine, state: Snapshot, cluster: string): Promise<readonly ShownService[]> {
  const address = state.get(cluster)?.name;
  if (address === undefined) return [];
  const seen = await withProofs(engine, state);
  return state
    .ofKind('ProxyService')
    .map((service) => ({ service, shown: lowerToCanonical(engine.registry, service, seen) }))
    .filter(({ shown }) => shown['proxy_cluster'] === address);
}

/** Adds the observed proofs of domains to the state. They matter only when there are custom domains. */
async function withProofs(engine: Engine, state: Snapshot): Promise<State> {
  if (state.countOf('ProxyDomain') === 0) return state;
  const observed = await readObserved(engine, engine.registry.get('ProxyDomain'), state.account);
  return state.viewedAs({ now: engine.now(), viewer: '', ...(observed === undefined ? {} : { observed }) });
}

interface ShownService {
  readonly service: StoredObject;
  readonly shown: JsonObject;
}
