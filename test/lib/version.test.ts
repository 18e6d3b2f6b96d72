import { describe, expect, test } from 'vitest';
import { compareVersions, leadingNumbers } from '../../src/lib/version.ts';

describe('the comparison of versions', () => {
  /** Versions in ascending order. */
  const rising = [
    '0.9',
    '0.10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.4.2',
    '1.4.10',
    '9.9.9',
    '10.0.0',
    '10.0.22631',
    '10.0.22631.3447',
    '99999999999999999998',
    '99999999999999999999',
  ];

  test('follows semantic versioning and orders numbers numerically', () => {
    for (const [at, one] of rising.entries()) {
      for (const [extra, other] of rising.entries()) {
        expect([one, other, Math.sign(compareVersions(one, other) ?? Number.NaN)]).toEqual([
          one,
          other,
          Math.sign(at - extra),
        ]);
      }
    }
  });

  test.each([
    ['6.1', '6.1.0'],
    ['v1.4.2', '1.4.2'],
    ['1.04.2', '1.4.2'],
    ['1.4.2+build.7', '1.4.2+build.8'],
    ['1.4.2-rc.1+build', '1.4.2-rc.1'],
    ['1.4.2~rc1', '1.4.2-rc1'],
    ['14.6 (23G80)', '14.6'],
    [' 1.2 ', '1.2'],
  ])('treats %s and %s as equal', (a, b) => {
    expect(compareVersions(a, b)).toBe(0);
  });

  test.each(['', 'development', 'latest', '1..2', '1.2.', '.1', '1.2rc3', '1.2-', '-1', '1,2', '0x10'])(
    'returns nothing for %j, which is not a version',
    (text) => {
      expect(compareVersions(text, '1.0')).toBeUndefined();
      expect(compareVersions('1.0', text)).toBeUndefined();
    },
  );

  test.each([
    ['6.8.0-41-generic', '6.8.0'],
    ['5.15.167.4-microsoft-standard-WSL2', '5.15.167.4'],
    ['4.18.0', '4.18.0'],
    ['6.9.0rc3', '6.9.0'],
    ['5.10.0.el8', '5.10.0'],
    ['6.8.0+', '6.8.0'],
    ['generic', undefined],
    ['', undefined],
  ])('reads from the kernel version %j the numbers %s', (text, numbers) => {
    expect(leadingNumbers(text)).toBe(numbers);
  });
});
