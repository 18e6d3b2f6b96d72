import { expect, it } from 'vitest';
import { toSpecificationPath } from '../../../src/api/profile/paths.ts';
import { isObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import { registry } from '../../kinds/objects.ts';
import { contains, respelledTexts } from '../../kinds/spellings.ts';
import type { Described } from '../described.ts';
import { createScene, inTheirOrder, isCreation } from '../example-scene.ts';
import { testApi } from '../setup.ts';
import { declaredFields } from './declared.ts';
import { collectionOf, differencesIn, isReplace, readOf } from './reading-back.ts';

/**
 * Members that are read differently from how they were sent with a value. A single user cannot be read;
 * `test/kinds/spelling.test.ts` tests the texts of users.
 */
const declared = declaredFields(false);

it.each(['specification', 'compatible'] as const)(
  'a client that compares what it sent with what it reads finds no difference in the profile %s',
  async (profile) => {
    const txt = new Map<string, readonly string[]>();
    await using api = await testApi('postgres', {
      edition: 'hosted',
      profile: { profile, allowsHeader: false },
      resolveTxt: async (name) => txt.get(name) ?? [],
    });
    const scene = await createScene(api, 'hosted', txt);
    const different: string[] = [];
    const respelled = new Set<string>();
    const compared = new Set<string>();
    const compare = async (of: Described): Promise<void> => {
      const sent = scene.exampleOf(of);
      const read = readOf(of, scene.operations);
      if (read !== undefined && sent !== undefined && of.method === 'post') await respell(of, read, sent);
      expect(await scene.attempt(of)).toEqual([]);
      if (read === undefined || sent === undefined) return;
      const { url, headers } = await scene.locate(read);
      const { body } = await api.call('GET', url, undefined, headers);
      compared.add(collectionOf(of));
      const collection = toSpecificationPath(collectionOf(of));
      different.push(...differencesIn(sent, body as Json, '').map((member) => `${collection} ${member.slice(1)}`));
    };
    const respell = async (of: Described, read: Described, sent: Json): Promise<void> => {
      const collection = toSpecificationPath(collectionOf(of));
      for (const { member, body, text } of respelledBodies(collection, sent)) {
        const { url, headers } = await scene.locate(of);
        const made = await api.call('POST', url, body, headers);
        // Some values are not valid together with the rest of the body.
        if (made.status !== 200) continue;
        const where = read.path === of.path ? url : `${url}/${made.body.id}`;
        const shown = (await api.call('GET', where, undefined, headers)).body;
        expect((await api.call('DELETE', where, undefined, headers)).status).toBe(200);
        respelled.add(`${collection} ${member}`);
        if (!contains(shown, text)) different.push(`${collection} ${member}`);
      }
    };
    const creations = scene.operations.filter((of) => isCreation(of, scene.operations));
    await inTheirOrder(scene, creations, compare);
    await inTheirOrder(scene, scene.operations.filter(isReplace), compare);
    expect([...new Set(different)].sort()).toEqual(declared.filter((one) => !one.startsWith('/api/users ')).sort());
    expect(respelled.size).toBeGreaterThanOrEqual(15);
    expect(compared.size).toBeGreaterThanOrEqual(25);
  },
  120_000,
);

/** Returns bodies in which the value of one member contains a text in a spelling that is not the stored one. */
function respelledBodies(collection: string, sent: Json) {
  const kind = registry.kinds.find(({ path, aliasPaths = [] }) => [path, ...aliasPaths].includes(collection));
  if (kind === undefined || !isObject(sent)) return [];
  const body = sent as JsonObject;
  return respelledTexts(kind).flatMap(({ member, text, name, value }) => {
    const stated = mergeInto(body[name], value);
    return name in body ? [{ member, text, body: { ...body, [name]: stated } }] : [];
  });
}

/** Returns a value with the members of another merged in. Of lists, only the first items are merged and kept. */
function mergeInto(value: Json | undefined, other: Json): Json {
  if (Array.isArray(value) && Array.isArray(other)) return [mergeInto(value[0] as Json, other[0] as Json)];
  if (!isObject(value) || !isObject(other)) return other;
  const members = Object.entries(other as JsonObject).map(([name, member]) => [
    name,
    mergeInto((value as JsonObject)[name], member),
  ]);
  return { ...value, ...Object.fromEntries(members) };
}
