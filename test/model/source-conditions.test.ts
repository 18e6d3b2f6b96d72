import { describe, expect, test } from 'vitest';
import { nextStatus, type SourceEvent } from '../../src/model/sources/conditions.ts';
import { eventsBetween, isReminderDue } from '../../src/model/sources/source-events.ts';
import {
  type ConditionType,
  initialStatus,
  isSameStatus,
  readStatus,
  type SourceStatus,
  shownStatus,
} from '../../src/model/sources/status.ts';

const applied = (digest: string, revision?: number): SourceEvent => ({
  what: 'applied',
  digest,
  message: revision === undefined ? 'nothing to do' : `revision ${revision}`,
  at: revision ?? 9,
  inventory: { Group: 2 },
  ...(revision === undefined ? {} : { revision }),
});
const refused = (digest: string, state: 'invalid' | 'needs_approval' | 'conflicted'): SourceEvent => ({
  what: 'refused',
  digest,
  state,
  message: `it is ${state}`,
  at: 5,
});

/** Returns the status after events that happen one minute apart, starting at 12:00. */
function statusAfter(events: readonly SourceEvent[], generation = 1): SourceStatus {
  return events.reduce(
    (status, event, at) => nextStatus(status, event, { now: `2026-01-01T12:0${at}:00.000Z`, generation }),
    initialStatus,
  );
}

const under = (generation: number, suspended = false) => ({ generation, suspended });
const conditionOf = (status: SourceStatus, type: ConditionType) =>
  status.conditions.find((condition) => condition.type === type);

describe('the status of a source', () => {
  test('shows after an apply what was applied, when, and the inventory of the source', () => {
    expect(statusAfter([applied('a', 4)])).toMatchObject({
      state: 'applied',
      message: 'revision 4',
      observedDigest: 'a',
      lastAppliedDigest: 'a',
      lastAppliedRevision: 4,
      lastAppliedAt: '2026-01-01T12:00:00.000Z',
      inventory: { Group: 2 },
      history: [{ digest: 'a', result: 'applied', revision: 4 }],
    });
  });

  test('E116: keeps the transition time of Ready while it is confirmed, and updates it when it changes', () => {
    const twice = statusAfter([applied('a', 4), applied('a'), applied('b', 5)]);
    expect(conditionOf(twice, 'Ready')).toMatchObject({
      status: 'True',
      lastTransitionTime: '2026-01-01T12:00:00.000Z',
    });
    const gone = nextStatus(
      twice,
      { what: 'unavailable', message: 'no directory' },
      { now: '2026-01-01T13:00:00.000Z', generation: 1 },
    );
    expect(conditionOf(gone, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'SourceUnavailable',
      lastTransitionTime: '2026-01-01T13:00:00.000Z',
    });
  });

  test('E117: does not show a result found under earlier settings as ready', () => {
    const status = statusAfter([applied('a', 4)], 2);
    expect(shownStatus(status, under(2))).toBe(status);
    expect(conditionOf(shownStatus(status, under(3)), 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'Outdated',
    });
    expect(conditionOf(shownStatus(statusAfter([refused('a', 'invalid')], 2), under(3)), 'Ready')).toMatchObject({
      status: 'False',
    });
  });

  test.each([
    ['invalid', 'InvalidDocuments', 'False'],
    ['needs_approval', 'NeedsApproval', 'False'],
    ['conflicted', 'Conflicted', 'True'],
  ] as const)(
    'E118: is stalled by the state %s until something changes, and an apply clears that',
    (state, reason, conflicted) => {
      const stalled = statusAfter([applied('a', 4), refused('b', state)]);
      expect(conditionOf(stalled, 'Stalled')).toMatchObject({ status: 'True', reason });
      expect(conditionOf(stalled, 'Ready')).toMatchObject({ status: 'False', reason });
      expect(conditionOf(stalled, 'Conflicted')).toMatchObject({ status: conflicted });
      expect(stalled.lastAppliedDigest).toBe('a');
      const well = statusAfter([applied('a', 4), refused('b', state), applied('c', 6)]);
      expect(conditionOf(well, 'Stalled')).toMatchObject({ status: 'False' });
      expect(conditionOf(well, 'Conflicted')).toMatchObject({ status: 'False' });
    },
  );

  test('is stalled by a hot loop until the source is applied again', () => {
    const hot = statusAfter([applied('a', 4), { what: 'hot', message: 'HotLoop: 20 reconciles' }]);
    expect(hot.state).toBe('stalled');
    expect(conditionOf(hot, 'Stalled')).toMatchObject({ status: 'True', reason: 'HotLoop' });
    expect(
      conditionOf(statusAfter([applied('a', 4), { what: 'hot', message: '' }, applied('a')]), 'Stalled'),
    ).toMatchObject({
      status: 'False',
    });
  });

  test('keeps its last result while the source cannot be read, and shows that it is retried', () => {
    const gone = statusAfter([applied('a', 4), { what: 'unavailable', message: 'no directory' }]);
    expect(gone).toMatchObject({ state: 'unavailable', lastAppliedRevision: 4, lastAppliedDigest: 'a' });
    expect(conditionOf(gone, 'Reconciling')).toMatchObject({ status: 'True' });
    expect(conditionOf(gone, 'Stalled')).toMatchObject({ status: 'False' });
  });

  test('shows drift while it stays ready', () => {
    const drifted = statusAfter([{ ...(applied('a', 4) as object), drifted: 3 } as SourceEvent]);
    expect(conditionOf(drifted, 'Drifted')).toMatchObject({
      status: 'True',
      message: '3 stated values are different in the account',
    });
    expect(conditionOf(drifted, 'Ready')).toMatchObject({ status: 'True' });
  });

  test('shows the suspension beside the last result, until the source is resumed', () => {
    const still = statusAfter([applied('a', 4), { what: 'suspended' }]);
    expect(shownStatus(still, under(1, true))).toMatchObject({
      state: 'suspended',
      message: expect.stringMatching(/^suspended: /),
    });
    expect(
      shownStatus(statusAfter([applied('a', 4), { what: 'suspended' }, applied('b', 5)]), under(1, true)),
    ).toMatchObject({
      state: 'suspended',
      lastAppliedRevision: 5,
    });
    expect(conditionOf(still, 'Suspended')).toMatchObject({ status: 'True' });
    expect(conditionOf(still, 'Ready')).toMatchObject({ status: 'True' });
    expect(conditionOf(statusAfter([{ what: 'suspended' }, { what: 'resumed' }]), 'Suspended')).toMatchObject({
      status: 'False',
    });
  });

  test('keeps the last ten results, and repeated results for the same content once', () => {
    const same = statusAfter([refused('a', 'invalid'), refused('a', 'invalid'), applied('a', 4), applied('a')]);
    expect(same.history.map(({ result }) => result)).toEqual(['applied', 'invalid']);
    const many = Array.from({ length: 9 }, (_, at) => applied(`d${at}`, at));
    const status = [...many, ...many].reduce(
      (before, event) => nextStatus(before, event, { now: 'now', generation: 1 }),
      initialStatus,
    );
    expect(status.history).toHaveLength(10);
    expect(status.history[0]).toMatchObject({ digest: 'd8', revision: 8 });
  });
});

describe('events of a source', () => {
  const at = (now: string) => ({ now, generation: 1 });

  test('report once that it fails and stalls, each further failure, and once that it recovers', () => {
    const well = statusAfter([applied('a', 4)]);
    const stalled = nextStatus(well, refused('b', 'invalid'), at('1'));
    const still = nextStatus(stalled, refused('c', 'conflicted'), at('2'));
    const gone = nextStatus(still, { what: 'unavailable', message: '' }, at('3'));
    const awaits = nextStatus(gone, refused('d', 'needs_approval'), at('4'));
    const back = nextStatus(awaits, applied('d', 5), at('5'));
    const steps = [well, stalled, still, gone, awaits, back];
    const reported = steps.slice(1).map((status, before) => eventsBetween(steps[before] ?? initialStatus, status));
    expect(reported).toEqual([
      ['config.failed', 'config.source.stalled'],
      ['config.failed'],
      ['config.failed'],
      ['config.source.stalled'],
      ['config.source.recovered'],
    ]);
    expect(eventsBetween(well, nextStatus(well, applied('b', 5), at('1')))).toEqual([]);
  });

  test('are not repeated when the same failure of the same content lasts, ten times', () => {
    for (const event of [refused('b', 'invalid'), { what: 'unavailable', message: '' } as const]) {
      let status = statusAfter([applied('a', 4), event]);
      for (let time = 0; time < 10; time += 1) {
        const next = nextStatus(status, event, at(String(time)));
        expect(eventsBetween(status, next)).toEqual([]);
        status = next;
      }
    }
  });

  test('E135: report a suspension that has lasted a week, once for each suspension', () => {
    const still = nextStatus(initialStatus, { what: 'suspended' }, at('2026-01-01T00:00:00.000Z'));
    expect(isReminderDue(still, '2026-01-07T23:59:59.000Z')).toBe(false);
    expect(isReminderDue(still, '2026-01-08T00:00:00.000Z')).toBe(true);
    const reminded = nextStatus(still, { what: 'reminded' }, at('2026-01-08T00:00:00.000Z'));
    expect(isReminderDue(reminded, '2026-03-01T00:00:00.000Z')).toBe(false);
    const on = nextStatus(reminded, { what: 'resumed' }, at('2026-03-02T00:00:00.000Z'));
    expect(isReminderDue(on, '2026-06-01T00:00:00.000Z')).toBe(false);
    const again = nextStatus(on, { what: 'suspended' }, at('2026-06-02T00:00:00.000Z'));
    expect(isReminderDue(again, '2026-06-10T00:00:00.000Z')).toBe(true);
  });
});

describe('a source status', () => {
  const status = statusAfter([applied('a', 4)]);

  test('is not written when only times and the observed revision changed', () => {
    expect(isSameStatus(status, statusAfter([applied('a', 4), applied('a')]))).toBe(true);
    expect(isSameStatus(status, { ...status, nextRunAt: 'later', observedRevision: 77 })).toBe(true);
    expect(isSameStatus(status, JSON.parse(JSON.stringify(status)))).toBe(true);
  });

  test('is written when anything else changed', () => {
    expect(isSameStatus(status, statusAfter([applied('a', 4), applied('b')]))).toBe(false);
    expect(isSameStatus(status, nextStatus(status, { what: 'suspended' }, { now: '', generation: 1 }))).toBe(false);
    expect(isSameStatus(status, { ...status, observedGeneration: 2 })).toBe(false);
  });

  test('is read as far as possible when an older program wrote it', () => {
    const old = readStatus({ state: 'applied', message: 'm', lastAppliedRevision: 3 });
    expect(old).toMatchObject({ state: 'applied', lastAppliedRevision: 3, conditions: [], history: [] });
    expect(readStatus({}).state).toBe('pending');
  });
});
