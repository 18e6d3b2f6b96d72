import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createLongLists } from '../../src/api/answers/long-lists.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import type { State } from '../../src/model/declare/kind.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { planStep, steps } from '../plan/sequences.ts';
import { office } from '../plan/steps.ts';
import type { Described } from './described.ts';
import { createScene, inTheirOrder, isCreation } from './example-scene.ts';
import { testApi } from './setup.ts';

/** Returns the list as written without a cache. */
function written(state: Snapshot, kind: string, seen: State = state): string {
  return JSON.stringify(state.ofKind(kind).map((object) => lowerToResponse(state.registry, object, seen, 'list')));
}

/** Counts how often peers are written, until it is disposed. */
function countBodies({ registry }: Snapshot) {
  const { created_at } = registry.get('Peer').computed;
  if (created_at === undefined) throw new Error('peers show when they came');
  const spy = vi.spyOn(created_at, 'value');
  return { count: () => spy.mock.calls.length, [Symbol.dispose]: () => spy.mockRestore() };
}

/** Returns the viewer and the time of a request, which differ on each call. */
const view = () => ({ now: new Date(++moments * 1000).toISOString(), viewer: `viewer ${moments}` });
let moments = 0;

/** Returns the account with additional peers, at the next revision. */
function manyPeers(count: number): Snapshot {
  const [peer] = office.ofKind('Peer');
  if (peer === undefined) throw new Error('the office has peers');
  const put = Array.from({ length: count }, (_, at) => ({ ...peer, id: `more-${at}`, key: `more-${at}` }));
  return office.with({ put, remove: [] }, office.revision + 1);
}

/**
 * Returns a function that caches every list, however short. The function returns the kinds whose cached list differs
 * from a newly written one, or whose ETag differs from that of a server that has just started.
 */
function follow(): (state: Snapshot) => readonly string[] {
  const lists = createLongLists(1);
  return (state) =>
    state.registry.kinds
      .filter(({ dependsOnView }) => dependsOnView !== true)
      .map(({ name }) => name)
      .filter((kind) => {
        const seen = state.viewedAs(view());
        const kept = runToEnd(lists.answer(state, kind, seen));
        const fresh = runToEnd(createLongLists(1).answer(state, kind, seen));
        return (kept?.text ?? '[]') !== written(state, kind, seen) || kept?.etag !== fresh?.etag;
      });
}

/** Returns observations of peers, which tests modify. */
function observations() {
  const observed = new Map<string, JsonObject>();
  const counts = new Map<string, number>();
  const reasons = new Map<string, string>();
  const seen = (state: Snapshot): State =>
    state.viewedAs({
      ...view(),
      observed: (id) => observed.get(id),
      countAccessible: (id) => counts.get(id) ?? 0,
      disapproval: (id) => reasons.get(id),
    });
  return { observed, counts, reasons, seen };
}

describe('a cached list', () => {
  it('equals a newly written list after any sequence of requests and documents', () => {
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

  it('is kept when an older state is requested, which it does not answer', () => {
    const lists = createLongLists(1);
    const later = office.with({ put: [], remove: ['p3'] }, office.revision + 1);
    expect(runToEnd(lists.answer(later, 'Peer'))?.text).toBe(written(later, 'Peer'));
    expect(runToEnd(lists.answer(office, 'Peer'))).toBeUndefined();
    expect(runToEnd(lists.answer(later, 'Peer'))?.text).toBe(written(later, 'Peer'));
  });

  it('is not available to others while it is updated, and complete afterwards', () => {
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

  it('rewrites only the peers with changed observations', () => {
    const { observed, counts, reasons, seen } = observations();
    const state = manyPeers(500);
    const lists = createLongLists(1);
    using bodiesWritten = countBodies(state);
    const answer = () => {
      const before = bodiesWritten.count();
      const text = runToEnd(lists.answer(state, 'Peer', seen(state)))?.text;
      const bodies = bodiesWritten.count() - before;
      expect(text).toBe(written(state, 'Peer', seen(state)));
      return bodies;
    };
    expect(answer()).toBe(state.countOf('Peer'));
    expect(answer()).toBe(0);
    observed.set('more-3', { connected: true, last_seen: '2026-01-02T03:04:05Z' });
    expect(answer()).toBe(1);
    observed.set('more-3', { connected: false, last_seen: '2026-01-02T03:04:06Z' });
    observed.set('more-4', { connected: true });
    expect(answer()).toBe(2);
    counts.set('more-5', 7);
    expect(answer()).toBe(1);
    reasons.set('more-6', 'no agent');
    expect(answer()).toBe(1);
    observed.delete('more-4');
    reasons.clear();
    counts.clear();
    expect(answer()).toBe(3);
    expect(answer()).toBe(0);
  });

  it('follows revisions and observations that change together', () => {
    const { observed, seen } = observations();
    const lists = createLongLists(1);
    const many = manyPeers(40);
    const [peer] = many.ofKind('Peer');
    if (peer === undefined) throw new Error('the office has peers');
    const text = (state: Snapshot) => runToEnd(lists.answer(state, 'Peer', seen(state)))?.text;
    expect(text(many)).toBe(written(many, 'Peer', seen(many)));
    observed.set('more-3', { connected: true });
    observed.set(peer.id, { connected: true });
    const put = [{ ...peer, spec: { ...peer.spec, name: 'renamed' }, name: 'renamed' }];
    const later = many.with({ put, remove: ['more-3', 'more-4'] }, many.revision + 1);
    expect(text(later)).toBe(written(later, 'Peer', seen(later)));
    expect(text(later)).toContain('"renamed"');
  });

  it('returns the same answer and ETag while its content is unchanged', () => {
    const { observed, seen } = observations();
    const lists = createLongLists(1);
    const state = manyPeers(40);
    const answer = () => runToEnd(lists.answer(state, 'Peer', seen(state)));
    const first = answer();
    expect(answer()).toBe(first);
    observed.set('more-3', { connected: true });
    const second = answer();
    expect([second === first, second?.etag === first?.etag]).toEqual([false, false]);
    observed.delete('more-3');
    expect(answer()?.etag).toBe(first?.etag);
  });

  it('rewrites one peer when that is renamed, and all peers when their number changes', () => {
    const { seen } = observations();
    const lists = createLongLists(1);
    const many = manyPeers(500);
    const [peer] = many.ofKind('Peer');
    if (peer === undefined) throw new Error('the office has peers');
    using bodiesWritten = countBodies(many);
    const bodies = (state: Snapshot) => {
      const before = bodiesWritten.count();
      expect(runToEnd(lists.answer(state, 'Peer', seen(state)))).toBeDefined();
      return bodiesWritten.count() - before;
    };
    expect(bodies(many)).toBe(many.countOf('Peer'));
    const renamed = many.with({ put: [{ ...peer, name: 'renamed' }], remove: [] }, many.revision + 1);
    expect(bodies(renamed)).toBe(1);
    const fewer = renamed.with({ put: [], remove: ['more-4'] }, renamed.revision + 1);
    // Every peer shows the number of peers in the group `all`, so all are written again.
    expect(bodies(fewer)).toBe(fewer.countOf('Peer'));
  });

  it('is not created for a short list', () => {
    expect(runToEnd(createLongLists().answer(office, 'Peer'))).toBeUndefined();
  });
});
