import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { reportOnce } from '../../src/commit/report-once.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function reporting() {
  const reported: string[] = [];
  return { reported, report: reportOnce<'warn'>((_, message) => void reported.push(message)) };
}

it('an equal message is reported once per hour, a different one at once', () => {
  const { reported, report } = reporting();
  for (const message of ['a', 'a', 'b', 'a']) report('warn', message);
  expect(reported).toEqual(['a', 'b']);
  vi.advanceTimersByTime(3_600_001);
  for (const message of ['a', 'a']) report('warn', message);
  expect(reported).toEqual(['a', 'b', 'a']);
});

it('the oldest of 10,000 remembered messages is forgotten first', () => {
  const { reported, report } = reporting();
  for (let at = 0; at <= 10_000; at += 1) report('warn', `message ${at}`);
  const known = reported.length;
  report('warn', 'message 1');
  expect(reported.length).toBe(known);
  report('warn', 'message 0');
  expect(reported.at(-1)).toBe('message 0');
});
