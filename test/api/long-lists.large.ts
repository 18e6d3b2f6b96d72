import { describe, expect, it } from 'vitest';
import type { Described } from './described.ts';
import { createScene, inTheirOrder, isCreation } from './example-scene.ts';
import { testApi } from './setup.ts';
import { checkCachedLists, follow } from './written-lists.ts';

describe('a cached list', () => {
  it('equals a newly written list after any sequence of requests and documents', () => checkCachedLists(60));

  it('follows changes of objects that it refers to and that refer to it, for every kind', async () => {
    const txt = new Map<string, readonly string[]>();
    await using api = await testApi('postgres', { edition: 'hosted', resolveTxt: async (name) => txt.get(name) ?? [] });
    const wrong = follow();
    const found: string[] = [];
    let revisions = 0;
    api.engine.listeners.add(({ account, after, revision }) => {
      if (account !== api.account) return;
      revisions += 1;
      found.push(...wrong(after).map((kind) => `${kind} at revision ${revision}`));
    });
    const scene = await createScene(api, 'hosted', txt);
    const attempt = (of: Described) => scene.attempt(of);
    const run = (chosen: readonly Described[]) => inTheirOrder(scene, chosen, attempt);
    await run(scene.operations.filter((of) => isCreation(of, scene.operations)));
    await run(scene.operations.filter(({ method }) => method === 'put'));
    const [one = '', two = ''] = await api.peers('first', 'second');
    const groups: readonly { readonly id: string; readonly name: string }[] = (await api.call('GET', '/api/groups'))
      .body;
    for (const { id, name } of groups.filter((group) => group.name !== 'All'))
      for (const peers of [[one], [one, two], []])
        expect((await api.call('PUT', `/api/groups/${id}`, { name: `${name}!`, peers })).status).toBe(200);
    await run(scene.operations.filter(({ method }) => method === 'delete').reverse());
    expect(found).toEqual([]);
    expect(revisions).toBeGreaterThan(60);
  });
});
