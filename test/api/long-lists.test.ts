import { describe, expect, it, vi } from 'vitest';
import { createLongLists } from '../../src/api/answers/long-lists.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import type { State } from '../../src/model/declare/kind.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { office } from '../plan/steps.ts';
import { checkCachedLists, view, written } from './written-lists.ts';

/** Counts how often peers are written, until it is disposed. */
function countBodies({ registry }: Snapshot) {
  const { created_at } = registry.get('Peer').computed;
  if (created_at === undefined) throw new Error('peers show when they came');
  const spy = vi.spyOn(created_at, 'value');
  return { count: () => spy.mock.calls.length, [Symbol.dispose]: () => spy.mockRestore() };
}

/** Returns the account with additional peers, at the next revision. */
function manyPeers(count: number): Snapshot {
  const [peer] = office.ofKind('Peer');
  if (peer === undefined) throw new Error('the office has peers');
  const put = Array.from({ length: count }, (_, at) => ({ ...peer, id: `more-${at}`, key: `more-${at}` }));
  return office.with({ put, remove: [] }, office.revision + 1);
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
  it('equals a newly written list after any sequence of requests and documents', () => checkCachedLists(4));

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
