import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Cidr,
  canonicalAddress,
  clientNetworkOf,
  contains,
  overlaps,
  parseAddress,
  parseCidr,
} from '../../src/lib/net/address.ts';

function cidr(text: string): Cidr {
  const result = parseCidr(text);
  if (!result.ok) throw new Error(`${text} is not a CIDR`);
  return result.cidr;
}

describe('the canonical form of an address', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['::0001', '::1'],
    ['::', '::'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['2001:DB8::A', '2001:db8::a'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['fe80:0:0:0:1:0:0:0', 'fe80::1:0:0:0'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['::ffff:a00:1', '::ffff:10.0.0.1'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
  ])('for %s is %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
  });

  test.each([
    '',
    '10.0.0',
    '10.0.0.01',
    '10.0.0.256',
    '10.0.0.1 ',
    '+1.0.0.1',
    '0x0a.0.0.1',
    ':::',
    ':1',
    '1:',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    '12345::',
    'g::',
    'fe80::1%eth0',
    '1.2.3.4::',
    '::1.2.3.4:5',
    '[::1]',
    '10.0.0.1/32',
  ])('does not exist for "%s"', (text) => {
    expect(canonicalAddress(text)).toBeUndefined();
  });

  test('for every IPv6 address parses to the same address, and is valid for node', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const address = parseAddress(text);
        expect(isIPv6(address?.text ?? '')).toBe(true);
        expect(parseAddress(address?.text ?? '')).toEqual(address);
        expect(new URL(`http://[${text}]`).hostname).toBe(new URL(`http://[${address?.text}]`).hostname);
      }),
    );
  });

  test('for every IPv4 address is the address itself', () => {
    fc.assert(fc.property(fc.ipV4(), (text) => canonicalAddress(text) === text));
  });
});

describe('a CIDR', () => {
  test.each([
    ['10.0.0.0/8', 4, 8, '10.0.0.0/8'],
    ['0.0.0.0/0', 4, 0, '0.0.0.0/0'],
    ['10.1.2.3/32', 4, 32, '10.1.2.3/32'],
    ['2001:DB8:0::/48', 6, 48, '2001:db8::/48'],
    ['::/0', 6, 0, '::/0'],
    ['::0001/128', 6, 128, '::1/128'],
  ])('is parsed and written in canonical form: %s', (text, family, prefix, canonical) => {
    expect(cidr(text)).toMatchObject({ family, prefix, text: canonical });
  });

  test.each([
    ['10.0.0.1/8', '10.0.0.0/8'],
    ['192.168.1.77/26', '192.168.1.64/26'],
    ['0.0.0.1/0', '0.0.0.0/0'],
    ['2001:db8::1/32', '2001:db8::/32'],
  ])('with host bits is refused: %s, with the suggestion %s', (text, masked) => {
    expect(parseCidr(text)).toEqual({ ok: false, fault: 'host_bits', masked });
  });

  test.each([
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '/8',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0/8',
  ])('"%s" is malformed', (text) => {
    expect(parseCidr(text)).toEqual({ ok: false, fault: 'malformed' });
  });

  test.each([
    ['10.0.0.0/8', '10.1.0.0/16', true],
    ['10.0.0.0/8', '10.0.0.0/8', true],
    ['10.1.0.0/16', '10.0.0.0/8', false],
    ['10.0.0.0/8', '11.0.0.0/16', false],
    ['0.0.0.0/0', '::/0', false],
    ['::/0', 'fe80::/10', true],
  ])('%s contains the range %s: %s', (outer, inner, expected) => {
    expect(contains(cidr(outer), cidr(inner))).toBe(expected);
  });

  test.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', false],
    ['fe80::/10', 'febf::1', true],
  ])('%s contains the address %s: %s', (outer, inner, expected) => {
    const address = parseAddress(inner);
    expect(address !== undefined && contains(cidr(outer), address)).toBe(expected);
  });

  test('overlaps another one when either contains the other', () => {
    expect(overlaps(cidr('10.0.0.0/8'), cidr('10.1.0.0/16'))).toBe(true);
    expect(overlaps(cidr('10.1.0.0/16'), cidr('10.0.0.0/8'))).toBe(true);
    expect(overlaps(cidr('10.0.0.0/9'), cidr('10.128.0.0/9'))).toBe(false);
  });

  test('suggested for one with host bits is valid and contains the address', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (text, prefix) => {
        const result = parseCidr(`${text}/${prefix}`);
        if (!result.ok && result.fault === 'malformed') throw new Error('malformed');
        const range = cidr(result.ok ? result.cidr.text : result.masked);
        const address = parseAddress(text);
        expect(address !== undefined && contains(range, address)).toBe(true);
      }),
    );
  });
});

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::ffff', '2001:db8:1:2::/64'],
  ['::1', '::/64'],
  ['no address', 'no address'],
])('requests from %s are counted as requests from %s', (text, counted) => {
  expect(clientNetworkOf(text)).toBe(counted);
});
