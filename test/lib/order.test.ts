import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { topologicalOrder } from '../../src/lib/order.ts';

type Needs = Readonly<Record<string, readonly string[]>>;

const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const orderOf = (needs: Needs, nodes = Object.keys(needs)) =>
  topologicalOrder(nodes, (node) => needs[node] ?? [], byName);

describe('topological order', () => {
  test.each<[string, Needs, readonly string[]]>([
    ['nothing gives nothing', {}, []],
    ['independent nodes are sorted', { c: [], a: [], b: [] }, ['a', 'b', 'c']],
    ['a node stands behind what it needs', { a: ['b'], b: ['c'], c: [] }, ['c', 'b', 'a']],
    ['layers go before names', { a: ['z'], b: [], z: [] }, ['b', 'z', 'a']],
    ['a diamond closes in the third layer', { d: ['b', 'c'], c: ['a'], b: ['a'], a: [] }, ['a', 'b', 'c', 'd']],
    ['a need named twice counts once', { a: ['b', 'b'], b: [] }, ['b', 'a']],
    ['a need outside the nodes is ignored', { a: ['elsewhere'] }, ['a']],
  ])('%s', (_, needs, order) => {
    expect(orderOf(needs)).toEqual({ ok: true, order });
  });

  test.each<[string, Needs, readonly string[]]>([
    ['a node that needs itself', { a: ['a'] }, ['a']],
    ['two nodes that need each other', { b: ['a'], a: ['b'] }, ['a', 'b']],
    [
      'a cycle is told without the nodes that only lead to it',
      { a: ['b'], b: ['d'], c: ['b'], d: ['c'], e: [] },
      ['b', 'd', 'c'],
    ],
  ])('reports a cycle: %s', (_, needs, cycle) => {
    expect(orderOf(needs)).toEqual({ ok: false, cycle });
  });

  test('does not depend on the order of the input, and puts every node after its needs', () => {
    const graph = fc.array(fc.array(fc.nat(30), { maxLength: 4 }), { maxLength: 31 });
    fc.assert(
      fc.property(graph, fc.integer(), (lists, seed) => {
        const needs: Needs = Object.fromEntries(
          lists.map((list, node) => [`${node}`, list.filter((other) => other < node).map(String)]),
        );
        const shuffled = Object.keys(needs).sort(
          (a, b) => ((Number(a) * 31 + seed) % 17) - ((Number(b) * 31 + seed) % 17),
        );
        const result = orderOf(needs, shuffled);
        expect(result).toEqual(orderOf(needs));
        const order = result.ok ? result.order : [];
        expect(order.length).toBe(lists.length);
        const late = order.filter((node, index) => needs[node]?.some((needed) => order.indexOf(needed) > index));
        expect(late).toEqual([]);
      }),
    );
  });

  test('handles a chain and a star of 50,000 nodes without a deep stack', () => {
    const nodes = Array.from({ length: 50_000 }, (_, node) => node);
    const byNumber = (a: number, b: number) => a - b;
    expect(topologicalOrder(nodes, (node) => [node + 1], byNumber)).toEqual({ ok: true, order: nodes.toReversed() });
    expect(topologicalOrder(nodes, (node) => (node === 0 ? nodes.slice(1) : []), byNumber)).toMatchObject({ ok: true });
    const ring = topologicalOrder(nodes, (node) => [(node + 1) % nodes.length], byNumber);
    expect(ring).toEqual({ ok: false, cycle: nodes });
  });
});
