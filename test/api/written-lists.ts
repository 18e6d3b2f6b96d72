import fc from 'fast-check';
import { expect } from 'vitest';
import { createLongLists } from '../../src/api/answers/long-lists.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import type { State } from '../../src/model/declare/kind.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { planStep, steps } from '../plan/sequences.ts';
import { office } from '../plan/steps.ts';

/** Returns the list as written without a cache. */
export function written(state: Snapshot, kind: string, seen: State = state): string {
  return JSON.stringify(state.ofKind(kind).map((object) => lowerToResponse(state.registry, object, seen, 'list')));
}

/** Returns the viewer and the time of a request, which differ on each call. */
export const view = () => ({ now: new Date(++moments * 1000).toISOString(), viewer: `viewer ${moments}` });
let moments = 0;

/**
 * Returns a function that caches every list, however short. The function returns the kinds whose cached list differs
 * from a newly written one, or whose ETag differs from that of a server that has just started.
 */
export function follow(): (state: Snapshot) => readonly string[] {
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

/** Compares cached lists with newly written ones after this number of random sequences of requests and documents. */
export function checkCachedLists(runs: number): void {
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
    { numRuns: runs },
  );
}
