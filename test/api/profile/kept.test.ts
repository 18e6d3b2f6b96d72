import { expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import type { Described } from '../described.ts';
import { createScene, inTheirOrder, isCreation } from '../example-scene.ts';
import { testApi } from '../setup.ts';

/** The one value of every secret in the examples; answers mask it or leave it out. */
const secret = 'c2VjcmV0';

/** What answers do not show as it was sent, by the collection and the member, and why. */
const shownOtherwise: Readonly<Record<string, string>> = {
  '/api/setup-keys /expires_in': 'the specification shows when a key expires',
  '/api/peers/{peerId}/ingress/ports /port_ranges': 'the specification shows the ports that were assigned',
  '/api/integrations/notifications/channels /target/emails': 'a webhook has none',
  '/api/reverse-proxies/services /auth/header_auths': 'ways to sign in that are not configured are absent',
};

it.each(['specification', 'compatible'] as const)(
  'a client that compares what it sent with what it reads sees no difference, as the profile %s has it',
  async (profile) => {
    const txt = new Map<string, readonly string[]>();
    await using api = await testApi('postgres', {
      edition: 'hosted',
      profile: { profile, byHeader: false },
      resolveTxt: async (name) => txt.get(name) ?? [],
    });
    const scene = await createScene(api, 'hosted', txt);
    const different: string[] = [];
    const compared = new Set<string>();
    const compare = async (of: Described): Promise<void> => {
      const sent = scene.exampleOf(of);
      expect(await scene.attempt(of)).toEqual([]);
      const read = readOf(of, scene.operations);
      if (read === undefined || sent === undefined) return;
      const { url, headers } = await scene.locate(read);
      const { body } = await api.call('GET', url, undefined, headers);
      compared.add(collectionOf(of));
      const differences = differencesIn(sent, body as Json, '').map((member) => `${collectionOf(of)} ${member}`);
      different.push(...differences.filter((one) => shownOtherwise[one] === undefined));
    };
    const creations = scene.operations.filter((of) => isCreation(of, scene.operations));
    await inTheirOrder(scene, creations, compare);
    await inTheirOrder(scene, scene.operations.filter(isReplace), compare);
    expect(different).toEqual([]);
    expect(compared.size).toBeGreaterThanOrEqual(25);
  },
  60_000,
);

function isReplace({ method, path }: Described): boolean {
  return method === 'put' && path.startsWith('/api/') && !path.startsWith('/api/config/');
}

function collectionOf({ path, method }: Described): string {
  return method === 'put' ? path.replace(/\/\{\w+\}$/, '') : path;
}

/** The operation that reads one object of those that an operation writes. Users' invites and tokens are no objects. */
function readOf(of: Described, all: readonly Described[]): Described | undefined {
  if (of.path.startsWith('/api/users/') || of.path.startsWith('/api/config/')) return undefined;
  const isItem = ({ path }: Described) => /^\/\{\w+\}$/.test(path.slice(collectionOf(of).length));
  const reads = all.filter(({ method, path }) => method === 'get' && path.startsWith(collectionOf(of)));
  const isSingle = !all.some((one) => isItem(one) && one.path.startsWith(collectionOf(of)));
  return reads.find(isItem) ?? (isSingle ? reads.find(({ path }) => path === of.path) : undefined);
}

/** The members that read otherwise than they were sent; references may read as summaries, and sets once. */
function differencesIn(sent: Json, read: Json | undefined, path: string): readonly string[] {
  if (sent === secret) return read === undefined || read === '' || read === '****' ? [] : [path];
  if (Array.isArray(sent)) {
    const once = [...new Set(sent)] as readonly Json[];
    if (!Array.isArray(read) || read.length !== once.length) return [path];
    return once.flatMap((item, at) => differencesIn(item, read[at] as Json, `${path}/*`));
  }
  if (isObject(read) && typeof sent === 'string') return read['id'] === sent ? [] : [path];
  if (!isObject(sent)) return sent === read ? [] : [path];
  if (!isObject(read)) return [path];
  const members = Object.entries(sent as JsonObject);
  return members.flatMap(([name, value]) => differencesIn(value, (read as JsonObject)[name], `${path}/${name}`));
}
