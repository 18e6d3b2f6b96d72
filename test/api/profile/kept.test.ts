import { expect, it } from 'vitest';
import type { Json } from '../../../src/lib/json.ts';
import type { Described } from '../described.ts';
import { createScene, inTheirOrder, isCreation } from '../example-scene.ts';
import { testApi } from '../setup.ts';
import { collectionOf, differencesIn, isReplace, readOf } from './reading-back.ts';

/** What answers do not show as it was sent, by the collection and the member, and why. */
const shownOtherwise: Readonly<Record<string, string>> = {
  '/api/setup-keys /expires_in': 'the specification shows when a key expires',
  '/api/peers/{peerId}/ingress/ports /port_ranges': 'the specification shows the ports that were assigned',
};

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
