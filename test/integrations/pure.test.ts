import { describe, expect, it, test } from 'vitest';
import { verdictOf, verdictOfRequest } from '../../src/features/integrations/deliveries/answer.ts';
import { defaultDelays } from '../../src/features/integrations/deliveries/backoff.ts';
import { nextBatch } from '../../src/features/integrations/deliveries/batch.ts';
import type { Channel, DeliveryEvent, WaitForMore } from '../../src/features/integrations/deliveries/target.ts';
import { notificationMail } from '../../src/features/integrations/notifications/mail-text.ts';
import { OutboundFailure } from '../../src/outbound/failure.ts';

const event = (id: number, more: Partial<DeliveryEvent> = {}): DeliveryEvent => ({
  ...{ feed: 'audit', id, at: '2026-01-02T03:04:05.678Z', code: 'group.add', activity: 'Group created' },
  ...{ initiator: { id: 'u1', name: 'Ana', email: '' }, target: { id: `g${id}`, name: '' }, meta: {} },
  ...more,
});

describe('the next batch of events for a channel', () => {
  const channel: Channel = {
    ...{ account: 'a', id: 'c', type: 'webhook', enabled: true, settings: {} },
    subscribesTo: (code) => code === 'group.add' || code === 'integration.delivery_failed',
  };
  const limits = { end: undefined, unacceptedEvents: undefined, newest: 9 };
  const chosen = (window: readonly DeliveryEvent[], take: number | WaitForMore, more = {}) => {
    const batch = nextBatch(window, channel, { chooseBatchSize: () => take }, { ...limits, ...more });
    return 'afterMs' in batch ? batch : [batch.events.map(({ id }) => id), batch.cursor];
  };
  const other = (id: number) => event(id, { code: 'user.join' });

  it.each<[string, unknown, unknown]>([
    ['moves behind what nobody wants', chosen([other(4), other(5)], 1), [[], 5]],
    ['moves to the newest number where events are missing', chosen([], 1), [[], 9]],
    ['stops before the next event that is wanted', chosen([event(4), other(5), other(6), event(7)], 1), [[4], 6]],
    ['goes to the end of the window behind the last one', chosen([event(4), other(5)], 1), [[4], 5]],
    ['takes as many as the target says', chosen([event(4), event(5), event(6)], 2), [[4, 5], 5]],
    [
      'takes one at the least and all at the most',
      [chosen([event(4)], 0), chosen([event(4)], 7)],
      [
        [[4], 4],
        [[4], 4],
      ],
    ],
    ['is the batch that was begun', chosen([event(4), event(5), event(6)], 3, { end: 5 }), [[4, 5], 5]],
    ['is a new one when nothing is left of that', chosen([event(6), event(7)], 1, { end: 5 }), [[6], 6]],
    [
      'is what the receiver did not take of the batch that was begun, which ends where it did',
      chosen([event(4), event(5), event(6), event(7)], 3, { end: 6, unacceptedEvents: [5] }),
      [[5], 6],
    ],
    ['is none when the target waits', chosen([event(4)], { afterMs: 7 }), { afterMs: 7 }],
    [
      'is the batch that was begun, also when the target would wait',
      chosen([event(4)], { afterMs: 7 }, { end: 4 }),
      [[4], 4],
    ],
    [
      'is no more of the batch that was begun than the target takes now',
      chosen([event(4), event(5), event(6)], 1, { end: 6 }),
      [[4], 4],
    ],
    [
      'is a part of what was refused, and no more of it than the target takes',
      [
        chosen([event(4), event(5), event(6), event(7)], 9, { parts: { lastId: 7, maxEvents: 2 } }),
        chosen([event(4), event(5), event(6)], 9, { parts: { lastId: 5, maxEvents: 4 } }),
        chosen([event(4), event(5), event(6)], 1, { parts: { lastId: 6, maxEvents: 2 } }),
        chosen([event(4), event(5), event(6)], { afterMs: 7 }, { parts: { lastId: 6, maxEvents: 2 } }),
        chosen([event(4), event(5)], 2, { parts: { lastId: 3, maxEvents: 1 } }),
      ],
      [
        [[4, 5], 5],
        [[4, 5], 5],
        [[4], 4],
        [[4, 5], 5],
        [[4, 5], 5],
      ],
    ],
    [
      'leaves out what the channel itself could not take',
      chosen(
        [
          event(4, { code: 'integration.delivery_failed', target: { id: 'c', name: '' } }),
          event(5, { code: 'integration.delivery_failed', target: { id: 'd', name: '' } }),
        ],
        1,
      ),
      [[5], 5],
    ],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected));

  it('is the whole batch that was begun when the target repeats batches', () => {
    const target = { chooseBatchSize: () => 1, repeatsBatches: true } as const;
    expect(nextBatch([event(4), event(5), event(6)], channel, target, { ...limits, end: 5 })).toEqual({
      ...{ events: [event(4), event(5)], end: 5, cursor: 5 },
    });
  });

  it('is empty without a target', () => {
    expect(nextBatch([event(4)], channel, undefined, limits)).toEqual({ events: [], end: 4, cursor: 4 });
  });
});

test('retry delays grow from one second to ten minutes, with jitter, and obey the delay that the receiver requests', () => {
  const delays = (random: number) =>
    [1, 2, 5, 9, 10, 40, 4000].map((failures) => defaultDelays.retry(failures, random));
  expect(delays(0)).toEqual([1000, 2000, 16_000, 256_000, 400_000, 400_000, 400_000]);
  expect(delays(1)).toEqual([1500, 3000, 24_000, 384_000, 600_000, 600_000, 600_000]);
  expect(defaultDelays.retry(1, 0, 60_000)).toBe(60_000);
  expect(defaultDelays.retry(1, 0, 10 ** 12)).toBe(86_400_000);
  expect(defaultDelays.pause(0)).toBe(3_600_000);
  expect(defaultDelays.pause(1)).toBeCloseTo(3_960_000);
});

describe('an answer of a receiver', () => {
  const now = Date.parse('2026-01-02T03:04:05Z');
  const verdict = (status: number, headers = {}) => verdictOf({ status, headers }, 'hooks.example.com', now);

  it.each<[string, readonly number[]]>([
    ['accepted', [200, 201, 202, 204]],
    ['retry', [408, 409, 423, 425, 429, 500, 502, 503, 504, 599]],
    ['pause', [304, 401, 402, 403, 404, 405, 410, 415, 451]],
    ['refused', [400, 413, 422]],
  ])('is classified as %s: %j', (outcome, statuses) => {
    expect(statuses.map((status) => verdict(status).outcome)).toEqual(statuses.map(() => outcome));
  });

  it.each<[string, number | undefined]>([
    ['120', 120_000],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
    ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
  ])('is retried after the delay of a valid Retry-After: %s', (header, afterMs) => {
    const reason = 'hooks.example.com answers 503';
    const expected = { outcome: 'retry', reason, ...(afterMs === undefined ? {} : { afterMs }) };
    expect(verdict(503, { 'retry-after': header })).toEqual(expected);
  });

  it('is classified as retry or pause when it is missing, and a defect is thrown', async () => {
    const failing = (error: Error) => verdictOfRequest(() => Promise.reject(error));
    expect(await failing(new OutboundFailure('timeout', 'late'))).toEqual({ outcome: 'retry', reason: 'late' });
    expect(await failing(new OutboundFailure('redirected', 'away'))).toEqual({ outcome: 'pause', reason: 'away' });
    await expect(failing(new TypeError('a defect'))).rejects.toThrow('a defect');
  });
});

test('a mail describes one event in words, and several events with one line each', () => {
  const frame = { account: 'acc1', channel: 'c1', to: ['a@example.com'], host: 'example.com' };
  const one = event(7, {
    target: { id: 'g7', name: 'Ops' },
    initiator: { id: 'u1', name: 'Ana', email: 'ana@example.com' },
    meta: { name: 'Ops', issued: 'api' },
  });
  expect(notificationMail(frame, [one]).text).toBe(`Group created: Ops

When: 2026-01-02 03:04:05 UTC
By: Ana <ana@example.com>
Target: Ops (g7)
issued: api
Event: 7 (group.add)

The notification channel c1 of the account acc1 sent this message.
`);
  const { subject, text, messageId } = notificationMail(frame, [one, event(8)]);
  expect([subject, messageId]).toEqual(['[Heddle] 2 events', '<c1.7-8@example.com>']);
  expect(text.split('\n').slice(2, 4)).toEqual([
    '2026-01-02 03:04:05 UTC Group created: Ops, by Ana',
    '2026-01-02 03:04:05 UTC Group created: g8, by Ana',
  ]);
});
