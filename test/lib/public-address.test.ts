import { describe, expect, test } from 'vitest';
import { containsHost, describeNonPublic, isAllowed, parseAllowList } from '../../src/lib/net/public-address.ts';

const listed = (...entries: readonly string[]) => {
  const list = parseAllowList(entries);
  if ('wrong' in list) throw new Error(list.wrong);
  return list;
};

describe('the check for public addresses', () => {
  test.each([
    ['93.184.216.34', undefined],
    ['100.63.255.255', undefined],
    ['100.128.0.0', undefined],
    ['172.32.0.1', undefined],
    ['192.0.1.1', undefined],
    ['223.255.255.255', undefined],
    ['2606:2800:220:1::1', undefined],
    ['2a00::1', undefined],
    ['0.0.0.0', /this host/],
    ['0.1.2.3', /this host/],
    ['10.255.0.1', /private/],
    ['100.64.0.1', /shared/],
    ['100.127.255.255', /shared/],
    ['127.0.0.1', /loopback/],
    ['127.255.255.254', /loopback/],
    ['169.254.169.254', /link-local/],
    ['172.16.0.1', /private/],
    ['172.31.255.255', /private/],
    ['192.0.0.8', /reserved/],
    ['192.88.99.1', /6to4/],
    ['192.168.1.1', /private/],
    ['198.19.255.255', /benchmark/],
    ['203.0.113.7', /documentation/],
    ['224.0.0.1', /multicast/],
    ['239.1.1.1', /multicast/],
    ['240.0.0.1', /reserved/],
    ['255.255.255.255', /reserved/],
    ['::', /this host/],
    ['::1', /loopback/],
    ['::127.0.0.1', /reserved/],
    ['::ffff:127.0.0.1', /IPv4/],
    ['::ffff:93.184.216.34', /IPv4/],
    ['::ffff:7f00:1', /IPv4/],
    ['64:ff9b::7f00:1', /NAT64/],
    ['64:ff9b:1::1', /NAT64/],
    ['100::1', /reserved/],
    ['2001::1', /reserved/],
    ['2001:0:5ef5:79fb::1', /reserved/],
    ['2001:db8::1', /documentation/],
    ['2002:7f00:1::1', /6to4/],
    ['3fff::1', /documentation/],
    ['4000::1', /reserved/],
    ['fc00::1', /unique-local/],
    ['fdff::1', /unique-local/],
    ['fe80::1', /link-local/],
    ['fe80::1%eth0', /not a plain IP address/],
    ['fec0::1', /reserved/],
    ['ff02::1', /multicast/],
    ['localhost', /not a plain IP address/],
    ['127.1', /not a plain IP address/],
    ['', /not a plain IP address/],
  ])('accepts or refuses %s', (text, expected) => {
    if (expected === undefined) expect(describeNonPublic(text)).toBeUndefined();
    else expect(describeNonPublic(text)).toMatch(expected);
  });
});

describe('an allow list', () => {
  test('allows listed addresses and ranges, and listed hosts whatever they resolve to', () => {
    const list = listed('10.1.0.0/16', '192.168.7.7', 'fd00::/8', 'Git.Internal.');
    expect(isAllowed(list, 'a.example.com', '10.1.2.3')).toBe(true);
    expect(isAllowed(list, 'a.example.com', '10.2.0.1')).toBe(false);
    expect(isAllowed(list, 'a.example.com', '192.168.7.7')).toBe(true);
    expect(isAllowed(list, 'a.example.com', '192.168.7.8')).toBe(false);
    expect(isAllowed(list, 'a.example.com', 'fd12::1')).toBe(true);
    expect(isAllowed(list, 'a.example.com', '::ffff:10.1.2.3')).toBe(false);
    expect(isAllowed(list, 'git.internal', '172.16.0.1')).toBe(true);
    expect(isAllowed(list, 'evil.git.internal', '172.16.0.1')).toBe(false);
    expect(isAllowed(list, 'a.example.com', '93.184.216.34')).toBe(true);
  });

  test('recognises a listed host by its name or by its address', () => {
    const list = listed('10.1.0.0/16', 'git.internal', 'fd00::1');
    expect(['git.internal', 'GIT.internal.', '10.1.9.9', '[fd00::1]'].map((host) => containsHost(list, host))).toEqual(
      Array(4).fill(true),
    );
    expect(['git.example.com', '10.2.0.0', '[fd00::2]'].map((host) => containsHost(list, host))).toEqual(
      Array(3).fill(false),
    );
  });

  test.each(['10.0.0.1/8', 'https://git.internal', 'a b', '127.1', '-x', '*.internal', 'a:443', '10.0.0.0/33'])(
    'refuses the entry %s',
    (entry) => {
      expect(parseAllowList(['10.0.0.0/8', entry])).toEqual({ wrong: entry });
    },
  );
});
