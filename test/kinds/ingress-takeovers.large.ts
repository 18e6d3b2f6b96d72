import { describe, expect, it } from 'vitest';
import { takeoversIn } from '../../src/model/state/ingress-takeovers.ts';
import { away, gate, machines, mapping, port } from './ingress-machines.ts';
import { stateOf } from './objects.ts';

describe('takeovers of ingress ports', () => {
  it('use free numbers between those already taken, for 10,000 ports within seconds', () => {
    const large = { tcp_pool: { start: 20000, end: 39999 } };
    const ports = (on: string, from: number) =>
      Array.from({ length: 10_000 }, (_, at) => port(`${on}-${at}`, on, [mapping(from + at * 2, 1, 'tcp', 80)]));
    const gateways = [gate('e1', large), gate('e2', large)];
    const state = stateOf(...machines, ...gateways, ...ports('e1', 20000), ...ports('e2', 20000));
    const before = performance.now();
    const takeovers = takeoversIn(state, away('e1'));
    // The takeover takes less than a second. A scan of all free numbers for every port took ten seconds.
    expect(performance.now() - before).toBeLessThan(6000);
    expect(takeovers.size).toBe(10_000);
    expect(takeovers.get('e1-0')?.mappings).toEqual([mapping(20001, 1, 'tcp', 80)]);
  });
});
