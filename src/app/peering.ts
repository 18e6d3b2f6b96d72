import { randomUUID } from 'node:crypto';
import type { Engine } from '../commit/engine.ts';
import type { LeaseKeeper } from '../db/leases/lease-keeper.ts';
import { type Cities, createCities } from '../features/peers/cities.ts';
import { type ConnectionTracker, createConnectionTracker } from '../features/peers/connection-tracker.ts';
import { locateNowhere, openLocationDatabase } from '../features/peers/geo.ts';
import { createPeering, type Peering } from '../features/peers/peering.ts';
import { runPeerUpkeep } from '../features/peers/upkeep/upkeep.ts';
import type { Log } from '../log.ts';
import { Unavailable } from '../model/errors.ts';

/** Services and background loop for peers. */
interface Machines {
  /** Services that the API uses. */
  readonly services: {
    readonly peering: Peering;
    readonly connectionTracker: ConnectionTracker;
    readonly cities: Cities | undefined;
  };
  /** Starts the upkeep of peers. Returns a function that stops it. */
  run(): () => Promise<void>;
}

/**
 * Parts of the server that `createMachines` uses: its log, its lease keeper and its list of functions to call on
 * shutdown.
 */
interface MachineOptions {
  readonly log: Log;
  /** Renews leases outside this thread. Absent for an embedded database. */
  readonly leases?: LeaseKeeper | undefined;
  readonly closing: (() => Promise<unknown>)[];
  onDefect(error: unknown, operation: string): void;
}

/** Creates the services for peers. Throws when `locationDatabase`, the path of a file, cannot be read. */
export function createMachines(
  engine: Engine,
  locationDatabase: string | undefined,
  options: MachineOptions,
): Machines {
  const { log, closing, onDefect } = options;
  const server = randomUUID();
  const locate = locationDatabase === undefined ? locateNowhere : openLocationDatabase(locationDatabase);
  const failed = (error: unknown): void => {
    // An unreachable database is not a defect: the write is tried again, and requests are answered with `Unavailable`.
    if (!(error instanceof Unavailable)) onDefect(error, 'tracking the connections of peers');
  };
  const connectionTracker = createConnectionTracker({ engine, server, failed, leases: options.leases });
  closing.unshift(() => connectionTracker.close());
  return {
    services: {
      peering: createPeering({ engine, now: Date.now, locate }),
      connectionTracker,
      cities: locationDatabase === undefined ? undefined : createCities(locationDatabase),
    },
    run: () => runPeerUpkeep({ engine, server, report: (level, message) => log({ level, message }) }),
  };
}
