import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalDomain, isWithin, unicodeDomain } from '../../src/lib/net/domain.ts';

const label63 = 'a'.repeat(63);
const name253 = `${`${label63}.`.repeat(3)}${'a'.repeat(61)}`;

describe('the canonical form of a domain name', () => {
  test.each([
    ['example.com', 'example.com'],
    ['Example.COM.', 'example.com'],
    ['localhost', 'localhost'],
    ['MÜNCHEN.de', 'xn--mnchen-3ya.de'],
    ['XN--MNCHEN-3YA.de', 'xn--mnchen-3ya.de'],
    ['a。b。', 'a.b'],
    ['1.example.com', '1.example.com'],
    ['10.in-addr.arpa', '10.in-addr.arpa'],
    [`${label63}.com`, `${label63}.com`],
    [`${name253}.`, name253],
  ])('for %s is %s', (text, canonical) => {
    expect(canonicalDomain(text)).toBe(canonical);
  });

  test.each([
    '',
    '.',
    'example.com..',
    '.example.com',
    'a..b',
    '-a.com',
    'a-.com',
    'a b.com',
    'a%41.com',
    'a/b.com',
    'user@host.com',
    'a.com:80',
    'exa\tmple.com',
    'é\n.com',
    '_sip.example.com',
    '*.example.com',
    '10.0.0.1',
    '1.2.3',
    'example.0x7f',
    '１.２.３',
    'xn--.com',
    '::1',
    `${label63}a.com`,
    `${name253}a`,
    'a'.repeat(100_000),
  ])('does not exist for %o', (text) => {
    expect(canonicalDomain(text)).toBeUndefined();
  });

  test('allows a wildcard only as an option and only in front', () => {
    expect(canonicalDomain('*.Example.com', { wildcard: true })).toBe('*.example.com');
    expect(canonicalDomain('*', { wildcard: true })).toBeUndefined();
    expect(canonicalDomain('*.*.example.com', { wildcard: true })).toBeUndefined();
    expect(canonicalDomain('a.*.com', { wildcard: true })).toBeUndefined();
    expect(canonicalDomain('a*.com', { wildcard: true })).toBeUndefined();
  });

  test('allows an underscore as an option', () => {
    expect(canonicalDomain('_SIP._tcp.example.com', { underscore: true })).toBe('_sip._tcp.example.com');
  });

  test('is unchanged when it is canonicalised again', () => {
    const options = { wildcard: true, underscore: true };
    const text = fc.oneof(
      fc.domain(),
      fc.string({ unit: 'grapheme' }),
      fc.stringMatching(/^[a-zéß*_-]{1,5}(\.[a-zÀ-ÿ]{1,9}){0,3}\.?$/),
    );
    fc.assert(
      fc.property(text, (name) => {
        const canonical = canonicalDomain(name, options);
        if (canonical !== undefined) expect(canonicalDomain(canonical, options)).toBe(canonical);
      }),
      { numRuns: 1000 },
    );
  });
});

test.each([
  ['example.com', 'example.com', true],
  ['a.b.example.com', 'example.com', true],
  ['badexample.com', 'example.com', false],
  ['example.com', 'a.example.com', false],
])('the domain %s is within %s: %s', (name, domain, expected) => {
  expect(isWithin(name, domain)).toBe(expected);
});

test.each([
  ['xn--mnchen-3ya.de', 'münchen.de'],
  ['*.xn--mnchen-3ya.de', '*.münchen.de'],
  ['_sip.example.com', '_sip.example.com'],
])('the domain %s is displayed as %s', (canonical, text) => {
  expect(unicodeDomain(canonical)).toBe(text);
});
