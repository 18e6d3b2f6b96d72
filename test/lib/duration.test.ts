import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalDuration, canonicalGoDuration, parseDuration } from '../../src/lib/duration.ts';

test.each([
  ['30s', 30, '30s'],
  ['0m30s', 30, '30s'],
  ['2m30s', 150, '2m30s'],
  ['90s', 90, '1m30s'],
  ['24h', 86_400, '24h'],
  ['1h0m0s', 3600, '1h'],
  ['1.5h', 5400, '1h30m'],
  ['1.1h', 3960, '1h6m'],
  ['500ms', 0.5, '500ms'],
  ['0.25s', 0.25, '250ms'],
  ['5m5ms', 300.005, '5m5ms'],
  ['0s', 0, '0s'],
  ['0h0m', 0, '0s'],
])('%s is %d seconds and is written %s', (text, seconds, canonical) => {
  expect(parseDuration(text)).toBe(seconds);
  expect(canonicalDuration(text)).toBe(canonical);
});

test.each([
  '',
  '30',
  '-30s',
  '1d',
  '30S',
  '30 s',
  '30s2m',
  '1s1s',
  's',
  '.5s',
  '1.s',
  '1e3s',
  '0.5ms',
  '0.0001s',
  '999999999999h',
  `${'9'.repeat(400)}s`,
])('"%s" is not a duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
  expect(canonicalDuration(text)).toBeUndefined();
});

test('the canonical text means the same and is canonical already', () => {
  const part = (unit: string) =>
    fc.option(fc.nat(100_000), { nil: undefined }).map((count) => (count === undefined ? '' : `${count}${unit}`));
  fc.assert(
    fc.property(part('h'), part('m'), part('s'), part('ms'), (...parts) => {
      const text = parts.join('') || '0s';
      const canonical = canonicalDuration(text) ?? '';
      expect(parseDuration(canonical)).toBe(parseDuration(text));
      expect(canonicalDuration(canonical)).toBe(canonical);
    }),
  );
});

test.each([
  ['30s', '30s'],
  ['0m30s', '30s'],
  ['2m', '2m0s'],
  ['2m0s', '2m0s'],
  ['90s', '1m30s'],
  ['1h', '1h0m0s'],
  ['1.5h', '1h30m0s'],
  ['1h0m0.5s', '1h0m0.5s'],
  ['30s1m', '1m30s'],
  ['.5s', '500ms'],
  ['1500ms', '1.5s'],
  ['1500us', '1.5ms'],
  ['1500\u03bcs', '1.5ms'],
  ['20ns', '20ns'],
  ['0', '0s'],
  ['0s', '0s'],
])('Go writes %s as %s', (text, canonical) => {
  expect(canonicalGoDuration(text)).toBe(canonical);
  expect(canonicalGoDuration(canonical)).toBe(canonical);
});

test.each(['', '30', '-30s', '+30s', '1d', '30S', '30 s', 's', '.s', '1h-', '9999999999h', '9'.repeat(200)])(
  'Go does not read %j',
  (text) => expect(canonicalGoDuration(text)).toBeUndefined(),
);
