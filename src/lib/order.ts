import { runToEnd, shouldYield, sortInSteps } from './steps.ts';

/** The nodes in order, or a cycle in which each node needs the next one and the last needs the first. */
export type OrderResult<T> =
  | { readonly ok: true; readonly order: readonly T[] }
  | { readonly ok: false; readonly cycle: readonly T[] };

type Compare<T> = (a: T, b: T) => number;

/**
 * Sorts nodes so that each comes after the nodes it needs. `needs` returns them; nodes outside `nodes` are ignored.
 * Works layer by layer and sorts each layer with `compare`, so the order of the input does not matter. Iterative, so
 * that a chain of 50,000 nodes does not overflow the stack.
 */
export function topologicalOrder<T>(
  nodes: Iterable<T>,
  needs: (node: T) => Iterable<T>,
  compare: Compare<T>,
): OrderResult<T> {
  return runToEnd(topologicalOrderInSteps(nodes, needs, compare));
}

/** Same as `topologicalOrder`, but yields at regular intervals. */
export function* topologicalOrderInSteps<T>(
  nodes: Iterable<T>,
  needs: (node: T) => Iterable<T>,
  compare: Compare<T>,
): Generator<undefined, OrderResult<T>> {
  const graph = yield* buildGraph(nodes, needs);
  const order: T[] = [];
  let layer = [...graph.pendingCount].filter(([, count]) => count === 0).map(([node]) => node);
  while (layer.length > 0) {
    const sorted = yield* sortInSteps(layer, compare);
    for (const node of sorted) order.push(node);
    layer = yield* releaseLayer(graph, sorted);
  }
  if (order.length === graph.pendingCount.size) return { ok: true, order };
  return { ok: false, cycle: findCycle(graph, new Set(order), compare) };
}

interface Graph<T> {
  readonly needs: ReadonlyMap<T, ReadonlySet<T>>;
  readonly neededBy: ReadonlyMap<T, readonly T[]>;
  /** Number of needed nodes that are not in the order yet, by node. Decremented during the sort. */
  readonly pendingCount: Map<T, number>;
}

function* buildGraph<T>(nodes: Iterable<T>, needsOf: (node: T) => Iterable<T>): Generator<undefined, Graph<T>> {
  const known = new Set(nodes);
  const needs = new Map<T, Set<T>>();
  const neededBy = new Map<T, T[]>();
  for (const node of known) neededBy.set(node, []);
  for (const node of known) {
    const own = new Set<T>();
    for (const needed of needsOf(node)) if (known.has(needed)) own.add(needed);
    for (const needed of own) neededBy.get(needed)?.push(node);
    needs.set(node, own);
    if (shouldYield(needs.size)) yield undefined;
  }
  const waitsFor = new Map([...needs].map(([node, own]) => [node, own.size]));
  return { needs, neededBy, pendingCount: waitsFor };
}

function* releaseLayer<T>(graph: Graph<T>, layer: readonly T[]): Generator<undefined, T[]> {
  const released: T[] = [];
  for (const [at, done] of layer.entries()) {
    if (shouldYield(at)) yield undefined;
    for (const node of graph.neededBy.get(done) ?? []) {
      const left = (graph.pendingCount.get(node) ?? 0) - 1;
      graph.pendingCount.set(node, left);
      if (left === 0) released.push(node);
    }
  }
  return released;
}

/**
 * Returns a cycle among the nodes that could not be ordered. Each of them needs another one of them, so following the
 * least needed node at each step must return to a visited node.
 */
function findCycle<T>(graph: Graph<T>, done: ReadonlySet<T>, compare: Compare<T>): readonly T[] {
  const left = [...graph.pendingCount.keys()].filter((node) => !done.has(node));
  const positions = new Map<T, number>();
  const path: T[] = [];
  let next = findSmallest(left, compare);
  while (next !== undefined && !positions.has(next)) {
    positions.set(next, path.length);
    path.push(next);
    next = findSmallest(
      [...(graph.needs.get(next) ?? [])].filter((node) => !done.has(node)),
      compare,
    );
  }
  const cycle = path.slice(next === undefined ? 0 : positions.get(next));
  const first = findSmallest(cycle, compare);
  const start = first === undefined ? 0 : cycle.indexOf(first);
  return [...cycle.slice(start), ...cycle.slice(0, start)];
}

function findSmallest<T>(nodes: readonly T[], compare: Compare<T>): T | undefined {
  return nodes.length === 0 ? undefined : nodes.reduce((best, node) => (compare(node, best) < 0 ? node : best));
}
