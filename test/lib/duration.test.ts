import { expect, test } from 'vitest';
import { canonicalGoDuration, parseDuration } from '../../src/lib/duration.ts';

test.each([
  ['30s', 30],
  ['0m30s', 30],
  ['2m30s', 150],
  ['90s', 90],
  ['24h', 86_400],
  ['1h0m0s', 3600],
  ['1.5h', 5400],
  ['1.1h', 3960],
  ['500ms', 0.5],
  ['0.25s', 0.25],
  ['5m5ms', 300.005],
  ['0s', 0],
  ['0h0m', 0],
])('the duration %s is %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds);
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
])('the Go form of the duration %s is %s', (text, canonical) => {
  expect(canonicalGoDuration(text)).toBe(canonical);
  expect(canonicalGoDuration(canonical)).toBe(canonical);
});

test.each(['', '30', '-30s', '+30s', '1d', '30S', '30 s', 's', '.s', '1h-', '9999999999h', '9'.repeat(200)])(
  '%j is not a Go duration',
  (text) => expect(canonicalGoDuration(text)).toBeUndefined(),
);
