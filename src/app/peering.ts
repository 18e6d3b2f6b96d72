import { randomUUID } from 'node:crypto';
import type { Engine } from '../commit/engine.ts';
import type { LeaseKeeper } from '../db/leases/lease-keeper.ts';
import { type Cities, createCities } from '../features/peers/cities.ts';
import { type ConnectionTracker, createConnectionTracker } from '../features/peers/connection-tracker.ts';
import { locateNowhere, openPlaces } from '../features/peers/geo.ts';
import { createPeering, type Peering } from '../features/peers/peering.ts';
import { runPeerUpkeep } from '../features/peers/upkeep/upkeep.ts';
import type { Log } from '../log.ts';
import { Unavailable } from '../model/errors.ts';

/** What a server does about machines. */
interface Machines {
  /** What the interface needs of it. */
  readonly services: {
    readonly peering: Peering;
    readonly connectionTracker: ConnectionTracker;
    readonly cities: Cities | undefined;
  };
  /** Looks after peers from now on; the function it answers stops that. */
  run(): () => Promise<void>;
}

/** What machines take from the server: its log, its lease keeper and its list of what to close. */
interface MachineOptions {
  readonly log: Log;
  /** Renews leases beside this thread; absent for an embedded database. */
  readonly leases?: LeaseKeeper | undefined;
  readonly closing: (() => Promise<unknown>)[];
  onDefect(error: unknown, place: string): void;
}

/** Wires what a server does about machines. Throws when the file of places cannot be read. */
export function createMachines(engine: Engine, places: string | undefined, options: MachineOptions): Machines {
  const { log, closing, onDefect } = options;
  const server = randomUUID();
  const locate = places === undefined ? locateNowhere : openPlaces(places);
  const failed = (error: unknown): void => {
    // A store that is away is tried again, and requests are answered that it is away.
    if (!(error instanceof Unavailable)) onDefect(error, 'tracking the connections of peers');
  };
  const connectionTracker = createConnectionTracker({ engine, server, failed, leases: options.leases });
  closing.unshift(() => connectionTracker.close());
  return {
    services: {
      peering: createPeering({ engine, now: Date.now, locate }),
      connectionTracker,
      cities: places === undefined ? undefined : createCities(places),
    },
    run: () => runPeerUpkeep({ engine, server, report: (level, message) => log({ level, message }) }),
  };
}
