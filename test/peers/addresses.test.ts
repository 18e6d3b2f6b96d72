import { expect, it } from 'vitest';
import { findFreeAddress, moveToRange } from '../../src/kinds/shared/peer-addresses.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { parseCidr } from '../../src/lib/net/address.ts';
import { type TestApi, testApi } from '../api/setup.ts';
import { newMachine, setupKey } from './machine.ts';

const cidr = (text: string) => {
  const read = parseCidr(text);
  if (!read.ok) throw new Error(text);
  return read.cidr;
};

it('the search for a free address finds every address of a range before it reports the range as full', () => {
  for (const range of ['10.0.0.0/28', '10.0.0.0/24', 'fd00::/120']) {
    const taken = new Set<string>();
    const size = 2 ** ((range.includes(':') ? 128 : 32) - Number(range.split('/')[1])) - 2;
    for (let at = 0; at < size; at += 1) {
      const address = findFreeAddress(cidr(range), `peer-${at}`, (text) => taken.has(text)) ?? '';
      expect(taken.has(address)).toBe(false);
      taken.add(address);
    }
    expect([taken.size, taken.has('10.0.0.0'), taken.has('')]).toEqual([size, false, false]);
    expect(findFreeAddress(cidr(range), 'one-more', (text) => taken.has(text))).toBeUndefined();
  }
});

it('an address keeps its position in another range that contains this position', () => {
  const from = cidr('10.0.0.0/16');
  expect(moveToRange(from, cidr('100.64.0.0/16'), '10.0.3.7')).toBe('100.64.3.7');
  expect(moveToRange(from, cidr('100.64.0.0/24'), '10.0.3.7')).toBeUndefined();
  expect(moveToRange(from, cidr('100.64.0.0/24'), '10.0.0.255')).toBeUndefined();
});

async function settle(api: TestApi, change: JsonObject): Promise<{ readonly status: number }> {
  const [account] = (await api.call('GET', '/api/accounts')).body;
  const settings = { ...account.settings, ...change };
  return api.call('PUT', `/api/accounts/${account.id}`, { ...account, settings });
}

it('a new range gives every peer another address in one revision, and IPv6 follows the groups that have it', async () => {
  await using api = await testApi();
  const key = (await setupKey(api))['key'] ?? '';
  for (let at = 0; at < 5; at += 1) await newMachine(api).enrol({ setup_key: key, hostname: `m${at}` });
  type Shown = { readonly id: string; readonly ip: string; readonly ipv6?: string };
  const peers = async (): Promise<readonly Shown[]> => (await api.call('GET', '/api/peers')).body;
  const before = await peers();
  // In a new account, all peers have IPv6 addresses.
  expect(before.every(({ ipv6 }) => ipv6?.startsWith('fd'))).toBe(true);
  await settle(api, { ipv6_enabled_groups: [] });
  expect((await peers()).every(({ ipv6 }) => ipv6 === undefined)).toBe(true);
  const revision = await api.revision();
  expect((await settle(api, { network_range: '10.77.0.0/16' })).status).toBe(200);
  expect(await api.revision()).toBe(revision + 1);
  const moved = await peers();
  expect(moved.map(({ ip }) => ip)).toEqual(before.map(({ ip }) => ip.replace(/^\d+\.\d+/, '10.77')));
  // The wider range already contains their addresses, so they stay.
  expect((await settle(api, { network_range: '10.76.0.0/15' })).status).toBe(200);
  expect((await peers()).map(({ ip }) => ip)).toEqual(moved.map(({ ip }) => ip));
  expect((await settle(api, { network_range: '10.78.0.0/28' })).status).toBe(200);
  const small = (await peers()).map(({ ip }) => ip);
  expect(new Set(small.filter((ip) => ip.startsWith('10.78.0.'))).size).toBe(5);

  const [first, second] = before;
  const group = await api.group('six', [first?.id ?? '']);
  await settle(api, { ipv6_enabled_groups: [group], network_range_v6: 'fd11:2233:4455::/64' });
  const six = async () => (await peers()).flatMap(({ id, ipv6 }) => (ipv6 === undefined ? [] : [[id, ipv6]]));
  expect(await six()).toEqual([[first?.id, expect.stringMatching(/^fd11:2233:4455:/)]]);
  await api.call('PUT', `/api/groups/${group}`, { name: 'six', peers: [second?.id ?? ''] });
  expect((await six()).map(([id]) => id)).toEqual([second?.id]);
  const joining = (await setupKey(api, { auto_groups: [group] }))['key'] ?? '';
  const joined = await newMachine(api).enrol({ setup_key: joining });
  expect(joined.body.peer.ipv6).toMatch(/^fd11:2233:4455:/);
  await settle(api, { network_range_v6: 'fd99::/64' });
  expect((await six()).every(([, ipv6]) => ipv6?.startsWith('fd99:'))).toBe(true);
  await settle(api, { ipv6_enabled_groups: [] });
  expect(await six()).toEqual([]);
});

it('enrolment is refused with 409 when the range of the account is full', async () => {
  await using api = await testApi();
  expect((await settle(api, { network_range: '10.9.0.0/28' })).status).toBe(200);
  const key = (await setupKey(api))['key'] ?? '';
  const answers = [];
  for (let at = 0; at < 15; at += 1) answers.push(await newMachine(api).enrol({ setup_key: key }));
  expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 14 }, () => 200), 409]);
  expect(answers.at(-1)?.body.message).toContain('the account has no free address');
});
