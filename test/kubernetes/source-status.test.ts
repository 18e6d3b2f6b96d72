import { describe, expect, test } from 'vitest';
import {
  type SourceFacts,
  type SourceResourceStatus,
  sourceResourceStatus,
} from '../../src/features/sources/kubernetes/resources/source-status.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { nextStatus, type SourceEvent } from '../../src/model/sources/conditions.ts';
import { initialStatus, type SourceStatus } from '../../src/model/sources/status.ts';

const now = '2026-03-01T10:00:00.000Z';
const later = '2026-03-01T10:05:00.500Z';

const applied: SourceEvent = {
  ...{ what: 'applied', message: 'done', at: 7, revision: 7, digest: 'd1', inventory: { Group: 2, Policy: 1 } },
};
const heldBack: SourceEvent = {
  ...{ ...applied, heldBack: 2 },
  problems: [{ code: 'field_unknown', message: 'There is no field y.', file: 'a/groups/x.json', path: '/spec/y' }],
};
const waiting: SourceEvent = {
  ...{ what: 'refused', state: 'needs_approval', message: 'needs an approval', at: 8, digest: 'd2' },
  ...{ planId: 'p1', planDigest: 'f00' },
};

/** Returns the facts about a source after some events. */
function factsAfter(events: readonly SourceEvent[], more: Partial<SourceFacts> = {}): SourceFacts {
  const status = events.reduce(
    (before: SourceStatus, event) => nextStatus(before, event, { now, generation: 1 }),
    initialStatus,
  );
  // The status as it is stored, as JSON.
  const stored: JsonObject = JSON.parse(JSON.stringify(status));
  return {
    ...{ source: 'k8s.a', suspended: false, resources: 3, generation: 1 },
    ...{ fault: undefined, planFault: undefined, handled: undefined },
    record: { status: stored, generation: 1, spec: { conflictMode: 'observe' } },
    ...more,
  };
}

const brief = ({ conditions }: SourceResourceStatus) =>
  Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));

describe('the status of a Source resource', () => {
  test('contains what is recorded of the source', () => {
    const status = sourceResourceStatus(factsAfter([applied]), undefined, later);
    expect(status).toMatchObject({
      ...{ source: 'k8s.a', suspended: false, conflictMode: 'observe', revision: 7 },
      ...{ resources: 3, objects: 3, heldBack: 0, drifted: 0 },
      ...{ lastAttemptAt: '2026-03-01T10:00:00Z', lastAttemptResult: 'applied', lastSuccessAt: '2026-03-01T10:00:00Z' },
    });
    expect(brief(status)).toMatchObject({
      ...{ Ready: 'True Applied', Stalled: 'False Applied', HeldBack: 'False Applied', Unavailable: 'False Applied' },
      ...{ GuardTripped: 'False Applied', Accepted: 'True Accepted', Suspended: 'False Running' },
    });
    expect(status.conditions.every(({ message }) => message !== undefined)).toBe(true);
  });

  test('is the same from every server, and when it is written again', () => {
    const first = sourceResourceStatus(factsAfter([applied, waiting]), undefined, now);
    expect(sourceResourceStatus(factsAfter([applied, waiting]), first, later)).toEqual(first);
  });

  test('reports what is held back, with the resource and the field', () => {
    const status = sourceResourceStatus(factsAfter([heldBack]), undefined, later);
    expect(status).toMatchObject({
      heldBack: 2,
      problems: [{ path: 'a/groups/x.json/spec/y', code: 'field_unknown' }],
    });
    expect(brief(status)).toMatchObject({ Ready: 'False HeldBack', HeldBack: 'True HeldBack' });
    expect(sourceResourceStatus(factsAfter([heldBack, applied]), status, later)).toMatchObject({ heldBack: 0 });
  });

  test('names the plan that waits, and reports when the Plan resource cannot be written', () => {
    const status = sourceResourceStatus(factsAfter([applied, waiting]), undefined, later);
    expect(status).toMatchObject({ plan: 'p1', planDigest: 'f00', revision: 7 });
    expect(brief(status)).toMatchObject({ Ready: 'False NeedsApproval', GuardTripped: 'True NeedsApproval' });
    expect(brief(status)).not.toHaveProperty('PlanShown');
    const unshown = sourceResourceStatus(factsAfter([applied, waiting], { planFault: 'no rights' }), status, later);
    expect(brief(unshown)).toMatchObject({ PlanShown: 'False CannotBeWritten' });
  });

  test('states since when a namespace cannot be read', () => {
    const status = sourceResourceStatus(
      factsAfter([applied, { what: 'unavailable', message: 'gone' }]),
      undefined,
      later,
    );
    expect(status).toMatchObject({ lastAttemptAt: '2026-03-01T10:00:00Z', lastAttemptResult: 'unavailable' });
    expect(brief(status)).toMatchObject({ Ready: 'False SourceUnavailable', Unavailable: 'True SourceUnavailable' });
  });

  test('is not Ready while a request in its spec is not allowed, and keeps its other conditions', () => {
    const fault = { reason: 'NotAllowed', message: 'not here' } as const;
    const status = sourceResourceStatus(factsAfter([applied], { fault }), undefined, later);
    expect(brief(status)).toMatchObject({
      ...{ Ready: 'False NotAllowed', Stalled: 'True NotAllowed', Accepted: 'False NotAllowed' },
      ...{ Drifted: 'False InSync', HeldBack: 'False Applied' },
    });
  });

  test('is unknown until the source is reconciled for the first time', () => {
    const status = sourceResourceStatus({ ...factsAfter([]), record: undefined }, undefined, later);
    expect(brief(status)).toMatchObject({ Ready: 'Unknown Pending', Reconciling: 'True Pending' });
  });
});
