import { describe, expect, it } from 'vitest';
import { aPeer, forwarders, mesh, observe, openImage, put } from './takeovers-mesh.ts';

describe('the ingress peer that takes over', () => {
  it('changes when a waiting peer is approved, and when its endpoint security verdict changes', async () => {
    const step = openImage(mesh, observe(['p1'], []));
    const ofFirst = ({ state, access }: Awaited<ReturnType<typeof step>>) => forwarders(state, access)[0]?.ingressPeer;
    expect(ofFirst(await step(put(aPeer('p2', true))))).toBe('gate-p3');
    expect(ofFirst(await step(put(aPeer('p2'))))).toBe('gate-p2');
    expect(ofFirst(await step(put(aPeer('p2', true))))).toBe('gate-p3');
    expect(ofFirst(await step(put(aPeer('p2'))))).toBe('gate-p2');
    expect(ofFirst(await step(put(), observe(['p1'], ['p2'])))).toBe('gate-p3');
    expect(ofFirst(await step(put(), observe(['p1'], ['p2', 'p3'])))).toBe('gate-p1');
    expect(ofFirst(await step(put(), observe(['p1'], [])))).toBe('gate-p2');
  });
});
