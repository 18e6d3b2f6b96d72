import { randomBytes } from 'node:crypto';
import { storedObject } from '../../src/commit/bootstrap.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import type { Edition } from '../../src/model/edition.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import type { Answer, TestApi } from '../api/setup.ts';
import { putObjects } from '../setup/objects.ts';

/** An account that is filled over HTTP with the objects that the tables of the specification need. */
export interface World {
  readonly api: TestApi;
  readonly edition: Edition;
  /** TXT records that the name servers of the test return, by name. */
  readonly txt: Map<string, readonly string[]>;
  /** Returns a number that no other call returned. */
  next(): number;
  /** Returns a name that no other call returned. */
  fresh(name: string): string;
  /** Sends a request and returns the body of its answer. Throws unless the status is 200. */
  send(method: string, path: string, body?: Json, headers?: Readonly<Record<string, string>>): Promise<Answer['body']>;
  /** Returns the result of `make`, which runs only on the first call with this name. */
  once(name: string, make: () => Promise<string>): Promise<string>;
  group(): Promise<string>;
  peer(): Promise<string>;
  newPeer(): Promise<string>;
  owner(): Promise<string>;
  /** Creates a token for a user of an account. Returns the header that authenticates the user. */
  headersOf(account: string, user: string): Promise<Readonly<Record<string, string>>>;
}

/** Creates the world of a test server's account. */
export function createWorld(api: TestApi, edition: Edition, txt: World['txt']): World {
  const known = new Map<string, Promise<string>>();
  let count = 0;
  const world: World = {
    api,
    edition,
    txt,
    next: () => {
      count += 1;
      return count;
    },
    fresh: (name) => `${name}-${world.next()}`,
    async send(method, path, body, headers) {
      const answer = await api.call(method, path, body, headers);
      if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    once(name, make) {
      const present = known.get(name) ?? make();
      known.set(name, present);
      return present;
    },
    group: () => world.once('group', async () => (await world.send('POST', '/api/groups', { name: 'Shared' })).id),
    peer: () => world.once('peer', world.newPeer),
    newPeer: async () => (await api.peers(world.fresh('peer')))[0] ?? '',
    owner: () => world.once('owner', async () => (await world.send('GET', '/api/users/current')).id),
    async headersOf(account, user) {
      const value = makeToken('nbp_', randomBytes(32));
      await insertToken(api.engine.database, {
        ...{ account, id: api.engine.newId(), user, name: 'walk', hash: hashToken(value), createdBy: user },
        ...{ createdAt: '2026-01-01T00:00:00Z', expiresAt: '2126-01-01T00:00:00Z' },
      });
      return { authorization: `Token ${value}` };
    },
  };
  return world;
}

/** Adds a cluster of proxies directly, as its proxies will. No HTTP request creates one. */
export async function addCluster({ engine, account }: TestApi, address: string, abilities: JsonObject): Promise<void> {
  const kind = engine.registry.get('ProxyCluster');
  const spec = canonicalSpec(kind, { address, type: 'account', ...abilities }).spec;
  await putObjects(engine, account, () => [
    storedObject(engine, { id: engine.newId(), kind: kind.name, spec, derived: {} }, engine.now()),
  ]);
}

/** Makes a user wait for an approval, like a user who joined by an e-mail domain. */
export async function makePending({ api }: Pick<World, 'api'>, id: string): Promise<void> {
  await reportPeer({ api }, id, { pending_approval: true }, { is_blocked: true });
}

/** Sets values of a peer that its enrolment and connection would report, or the user who enrolled it. */
export async function reportPeer(
  { api }: Pick<World, 'api'>,
  id: string,
  derived: JsonObject,
  spec: JsonObject = {},
): Promise<void> {
  await putObjects(api.engine, api.account, (state) => {
    const peer = state.get(id);
    if (peer === undefined) return [];
    return [{ ...peer, spec: { ...peer.spec, ...spec }, derived: { ...peer.derived, ...derived } }];
  });
}
