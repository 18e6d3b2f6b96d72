import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { createEngine } from '../../src/app.ts';
import type { Engine } from '../../src/commit/engine.ts';
import { createConnectionTracker } from '../../src/features/peers/connection-tracker.ts';
import { createHub } from '../../src/features/peers/streams/hub.ts';
import { countTransactions } from './counting.ts';
import { connect, openMesh, order, peersPerGroup } from './mesh.ts';
import type { Benchmark, Row } from './result.ts';

const groups = 200;

/**
 * Ten thousand agents reconnect at the same moment to a restarted server with empty caches. Measures how long it takes
 * until the last agent has its map, how often the account's access was computed, and how long other requests had to
 * wait.
 */
export const reconnect: Benchmark = {
  name: 'reconnect',
  async run(stand) {
    await using mesh = await openMesh(stand, groups);
    const what = `all ${(groups * peersPerGroup).toLocaleString('en')} agents come again after a restart`;
    await connect(mesh);
    await order(mesh.clients, { type: 'cut' });
    mesh.hub.close();
    await delay(500);
    const failures: unknown[] = [];
    const failed = (error: unknown) => failures.push(error);
    const asked = countTransactions(mesh.engine.database);
    const { engine, worked } = counted(createEngine({ database: asked.database }));
    const connectionTracker = createConnectionTracker({ engine, server: 'bench', failed });
    mesh.hub = createHub({ engine, listener: connectionTracker, now: Date.now, failed });
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    const start = performance.now();
    await connect(mesh);
    const taken = performance.now() - start;
    loop.disable();
    await connectionTracker.settle();
    const transactions = asked.transactions();
    await order(mesh.clients, { type: 'cut' });
    mesh.hub.close();
    await connectionTracker.close();
    if (failures.length > 0) throw failures[0];
    const row = (about: string, figure: number, unit: Row['unit'], most: number): Row => ({
      ...{ what: about, figure, unit, budget: { is: 'at most', value: most } },
    });
    return [
      { what: `${what}: until the last has its map`, figure: taken, unit: 'ms' },
      row('… images of who reaches whom that were worked out meanwhile', worked.size, '', 2),
      row('… transactions meanwhile, who is connected included', transactions, '', 100),
      { what: '… the longest turn of the server meanwhile', figure: loop.max / 1e6, unit: 'ms' },
      { what: '… half of its turns were shorter than', figure: loop.percentile(50) / 1e6, unit: 'ms' },
    ];
  },
};

/** Returns the engine, wrapped so that it records every access image that it returns. */
function counted(engine: Engine): { readonly engine: Engine; readonly worked: ReadonlySet<unknown> } {
  const worked = new Set<unknown>();
  const note = <Value>(image: Value): Value => {
    worked.add(image);
    return image;
  };
  const { access } = engine;
  const noted: Engine['access'] = {
    ...access,
    current: (state) => access.current(state).then(note),
    withLastObservations: (state) => access.withLastObservations(state).then(note),
  };
  return { engine: { ...engine, access: noted }, worked };
}
