import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { account, all, group, peer, stateOf, stored } from '../kinds/objects.ts';
import { applyOn, document, linesOf, objectOf, planOn, problemsOf, refusals } from './steps.ts';

const names = ['p1', 'p2', 'p3', 'p4'];
const proxyPeer = stored('ProxyPeer', 'proxy', { name: 'bern-1', ip: '10.0.0.9' });

/** Four peers in one range, all with IPv6, and a proxy peer. */
const before = stateOf(
  all,
  group('v6', names, { key: 'v6' }),
  {
    ...account({ network_range: '10.0.0.0/24', network_range_v6: 'fd00::/64', ipv6_enabled_groups: ['v6'] }),
    key: 'account',
  },
  ...names.map((name, at) => {
    const plain = peer(name, `10.0.0.${at + 1}`);
    return { ...plain, spec: { ...plain.spec, ipv6: `fd00::${at + 1}` } };
  }),
  proxyPeer,
);

const ranges = (settings: JsonObject) => document('Account', 'account', { settings });
const stating = (addresses: Readonly<Record<string, JsonObject>>) =>
  Object.entries(addresses).map(([name, spec]) => document('Peer', name, spec));

function addresses(state: Snapshot, field: 'ip' | 'ipv6' = 'ip'): readonly unknown[] {
  return names.map((name) => objectOf(state, 'Peer', name).spec[field]);
}

/** Returns the state after applying documents. Checks that a second plan is empty. */
function settled(documents: readonly Document[]): Snapshot {
  const state = applyOn(before, 'a', documents);
  expect(linesOf(planOn(state, 'a', documents), state)).toEqual([]);
  return state;
}

describe('documents that state a range and addresses in it', () => {
  it('give each peer its stated address at once, and that address to no other peer', () => {
    // Without the stated address, p1 would move to the address in the new range that p2 states.
    const state = settled([ranges({ network_range: '10.7.0.0/24' }), ...stating({ p2: { ip: '10.7.0.1' } })]);
    const [p1, ...others] = addresses(state);
    expect(others).toEqual(['10.7.0.1', '10.7.0.3', '10.7.0.4']);
    expect(p1).toMatch(/^10\.7\.0\./);
    expect(new Set([p1, ...others, state.get(proxyPeer.id)?.spec['ip']]).size).toBe(5);
  });

  it('can swap the addresses of two peers', () => {
    const swapped = stating({ p1: { ip: '10.7.0.2' }, p2: { ip: '10.7.0.1' } });
    const state = settled([ranges({ network_range: '10.7.0.0/24' }), ...swapped]);
    expect(addresses(state)).toEqual(['10.7.0.2', '10.7.0.1', '10.7.0.3', '10.7.0.4']);
  });

  it('assign stated IPv6 addresses in the same way', () => {
    const stated = stating({ p1: { ipv6: 'fd07::2' }, p2: { ipv6: 'fd07::1' }, p3: { ipv6: 'fd07::4' } });
    const state = settled([ranges({ network_range_v6: 'fd07::/64', ipv6_enabled_groups: ['v6'] }), ...stated]);
    const [p1, p2, p3, p4] = addresses(state, 'ipv6');
    expect([p1, p2, p3]).toEqual(['fd07::2', 'fd07::1', 'fd07::4']);
    expect(p4).toMatch(/^fd07::(?!4$)/);
  });

  it('are refused when they state the address of a proxy', () => {
    const outcome = planOn(before, 'a', [
      ranges({ network_range: '10.0.0.0/23' }),
      ...stating({ p1: { ip: '10.0.0.9' } }),
    ]);
    expect(refusals(outcome)).toEqual(['value_taken Peer/p1 /spec/ip']);
  });

  it('are refused when an address is outside the range, whether it is new or existing', () => {
    for (const ip of ['10.0.0.1', '10.8.0.1', '10.7.0.255']) {
      const outcome = planOn(before, 'a', [ranges({ network_range: '10.7.0.0/24' }), ...stating({ p1: { ip } })]);
      expect(refusals(outcome)).toEqual(['peer_address_outside Account/account /spec/settings/network_range']);
      expect(problemsOf(outcome)[0]?.message).toContain(`(${ip} of Peer p1)`);
    }
  });

  it('plan no change once they are applied, whatever they state', () => {
    const range = fc.constantFrom('10.7.0.0/24', '10.0.0.0/23', '10.0.0.0/28', '10.0.0.0/16', '10.7.0.0/27');
    const hostNumber = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined });
    fc.assert(
      fc.property(range, fc.tuple(hostNumber, hostNumber, hostNumber, hostNumber), (network, hostNumbers) => {
        const base = network.replace(/\d+\/\d+$/, '');
        const stated = names.flatMap((name, at) => {
          const found = hostNumbers[at];
          return found === undefined ? [] : stating({ [name]: { ip: `${base}${found}` } });
        });
        const documents = [ranges({ network_range: network }), ...stated];
        const outcome = planOn(before, 'a', documents);
        if (!outcome.ok) {
          expect(new Set(outcome.problems.map(({ code }) => code))).toEqual(new Set(['value_taken']));
          return;
        }
        expect(linesOf(planOn(outcome.next, 'a', documents), outcome.next)).toEqual([]);
        const given = addresses(outcome.next);
        expect(new Set(given).size).toBe(names.length);
        for (const [at, found] of hostNumbers.entries())
          if (found !== undefined) expect(given[at]).toBe(`${base}${found}`);
      }),
      { numRuns: 60 },
    );
  });
});
