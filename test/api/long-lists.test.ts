import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLongLists } from '../../src/api/answers/long-lists.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { planStep, steps } from '../plan/sequences.ts';
import { office } from '../plan/steps.ts';
import type { Described } from './described.ts';
import { createScene, inTheirOrder, isCreation } from './example-scene.ts';
import { testApi } from './setup.ts';

/** The list as it is written again. */
function written(state: Snapshot, kind: string): string {
  return JSON.stringify(state.ofKind(kind).map((object) => lowerToResponse(state.registry, object, state, 'list')));
}

/** The account with more peers, at the next revision. */
function manyPeers(count: number): Snapshot {
  const [peer] = office.ofKind('Peer');
  if (peer === undefined) throw new Error('the office has peers');
  const put = Array.from({ length: count }, (_, at) => ({ ...peer, id: `more-${at}`, key: `more-${at}` }));
  return office.with({ put, remove: [] }, office.revision + 1);
}

/** Keeps every list from its first object on; answers those that are not as they would be written again. */
function follow(): (state: Snapshot) => readonly string[] {
  const lists = createLongLists(1);
  return (state) =>
    state.registry.names.filter((kind) => (runToEnd(lists.answer(state, kind))?.text ?? '[]') !== written(state, kind));
}

describe('a list that is kept', () => {
  it('is after any sequence of requests and documents what it would be if it were written anew', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const wrong = follow();
        let state = office;
        expect(wrong(state)).toEqual([]);
        for (const step of sequence) {
          const outcome = planStep(state, step);
          if (outcome?.ok !== true) continue;
          state = outcome.next;
          expect(wrong(state)).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('follows what its objects refer to, and what refers to them, for every kind', async () => {
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

  it('is not thrown away for an older state, which is written anew', () => {
    const lists = createLongLists(1);
    const later = office.with({ put: [], remove: ['p3'] }, office.revision + 1);
    expect(runToEnd(lists.answer(later, 'Peer'))?.text).toBe(written(later, 'Peer'));
    expect(runToEnd(lists.answer(office, 'Peer'))).toBeUndefined();
    expect(runToEnd(lists.answer(later, 'Peer'))?.text).toBe(written(later, 'Peer'));
  });

  it('is nothing for others while it is brought up to date, and whole afterwards', () => {
    const lists = createLongLists(1);
    const later = office.with({ put: [], remove: ['p3'] }, office.revision + 1);
    const work = lists.answer(office, 'Peer');
    const many = manyPeers(100);
    const slow = lists.answer(many, 'Peer');
    expect(slow.next().done).toBe(false);
    expect(runToEnd(lists.answer(later, 'Peer'))).toBeUndefined();
    expect(runToEnd(slow)?.text).toBe(written(many, 'Peer'));
    expect(runToEnd(work)).toBeUndefined();
  });

  it('is only kept when it is long', () => {
    expect(runToEnd(createLongLists().answer(office, 'Peer'))).toBeUndefined();
  });
});
