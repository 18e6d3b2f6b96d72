import { asObject, type Json, type JsonObject, parseJson } from '../../src/lib/json.ts';
import type { Benchmark } from './result.ts';
import { request, serve } from './served.ts';
import type { Stand } from './stand.ts';
import { inTurns, time } from './timing.ts';

/** Size of a directory that a provider pushes. A group has between 1 and `members` members. */
interface Size {
  readonly users: number;
  readonly groups: number;
  readonly members: number;
}

const large: Size = { users: 10_000, groups: 500, members: 1000 };
const small: Size = { users: 100, groups: 5, members: 50 };

/** Number of requests that are in flight at once. */
const atOnce = 32;

/** A provider pushes a directory by SCIM for the first time, and then changes one membership. */
export const scim: Benchmark = {
  name: 'scim',
  onlyByName: true,
  async run(stand) {
    await using few = await push(stand, small);
    await using many = await push(stand, large);
    const inSmallGroup = await inTurns(60, many.moveOnly, few.moveOnly);
    const inLargeGroup = await inTurns(60, many.moveOneOfMany, many.moveOnly);
    const size = `${large.users.toLocaleString('en')} users`;
    const groups = `${large.groups} groups of up to ${large.members.toLocaleString('en')} members`;
    return [
      { what: `push of ${size} by SCIM`, figure: large.users / (many.usersMs / 1000), unit: '/s' },
      {
        ...{ what: `push of ${groups}`, figure: many.groupsMs, unit: 'ms' },
        note: `${many.edges.toLocaleString('en')} memberships`,
      },
      {
        ...{ what: 'push of a membership, on average', figure: many.groupsMs / many.edges, unit: 'ms' },
      },
      {
        ...{ what: `PATCH of the only member of a group among ${size}, against ${small.users} users`, ...inSmallGroup },
        ...{ unit: 'ms', budget: { is: 'at most', value: 2.5 } },
      },
      {
        what: `PATCH of one of ${large.members.toLocaleString('en')} members of a group, against the only one of another, among ${size}`,
        ...{ ...inLargeGroup, unit: 'ms', budget: { is: 'at most', value: 2.5 } },
      },
    ];
  },
};

async function push(stand: Stand, { users, groups, members }: Size) {
  const server = await serve({ url: await stand.postgres(), dataDir: await stand.directory() });
  const made = await request(server, 'POST', '/api/integrations/scim-idp', { prefix: 'bench', provider: 'generic' });
  const token = String(asObject(made as Json)['auth_token']);
  const post = async (path: string, body: JsonObject): Promise<string> =>
    String(asObject(await send(`${server.url}/scim/v2${path}`, token, 'POST', body))['id']);
  const ids: string[] = [];
  const usersMs = await time(() =>
    inParallel(users, async (at) => {
      const userName = `user-${at}@example.com`;
      const emails = [{ value: userName, type: 'work', primary: true }];
      ids[at] = await post('/Users', { userName, externalId: `x${at}`, active: true, emails });
    }),
  );
  let edges = 0;
  const groupsMs = await time(() =>
    inParallel(groups, async (at) => {
      const count = 1 + ((at * 997) % members);
      edges += count;
      const list = Array.from({ length: count }, (_, n) => ({ value: ids[(at * 19 + n) % users] ?? '' }));
      await post(`/Groups`, { displayName: `Group ${at}`, externalId: `g${at}`, members: list });
    }),
  );
  /**
   * Creates a group of the first `count` users. Returns a function that removes the first of them from the group, and
   * adds them again at the next call.
   */
  const mover = async (count: number): Promise<() => Promise<number>> => {
    const list = ids.slice(0, count).map((value) => ({ value }));
    const id = await post('/Groups', { displayName: `First ${count}`, members: list });
    let turn = 0;
    return () =>
      time(() => {
        const op = turn++ % 2 === 0 ? 'remove' : 'add';
        const Operations = [{ op, path: 'members', value: list.slice(0, 1) }];
        return send(`${server.url}/scim/v2/Groups/${id}`, token, 'PATCH', { Operations });
      });
  };
  return {
    ...{ usersMs, groupsMs, edges },
    moveOnly: await mover(1),
    moveOneOfMany: await mover(members),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}

/**
 * Sends a request in the way of providers: repeats a request that is answered with 429 after the time that the server
 * states.
 */
async function send(url: string, token: string, method: string, body: JsonObject): Promise<Json> {
  for (;;) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.ok) return text === '' ? null : parseJson(text);
    if (response.status !== 429) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get('retry-after')) * 1000));
  }
}
