import { equalJson, type JsonObject } from '../lib/json.ts';
import type { Wanted } from '../plan/contested.ts';
import { listWanted, putWanted } from '../store/wanted.ts';
import type { Engine } from './engine.ts';

/** What the sources of an account want and could not have. */
export async function wantedIn(engine: Engine, account: string): Promise<readonly Wanted[]> {
  const rows = await listWanted(engine.database, account);
  // Written by `noteWanted`, and its keys by the loops of sources.
  return rows.map(({ source, wanted }) => ({ keys: [], units: [], ...(wanted as Partial<Wanted>), source }));
}

/**
 * Writes down what a source wants and could not have, so that the others refuse to decide against it; or that it lacks
 * nothing. What is known of it already is not written again.
 */
export async function noteWanted(
  engine: Engine,
  account: string,
  source: string,
  { known, lacks }: { readonly known: readonly Wanted[]; readonly lacks: Omit<Wanted, 'source'> },
): Promise<void> {
  const before = known.find((one) => one.source === source);
  // What a refused plan would leave for later is not known, so that of the last one stays.
  const { blocked = before?.blocked ?? [], pending = before?.pending ?? [], keys, units } = lacks;
  const note = noteOf({ keys, units, blocked, pending });
  if (!equalJson(note, noteOf(before ?? {}))) await putWanted(engine.database, account, source, note, engine.now());
}

/** The lists that hold anything. */
function noteOf({ keys = [], units = [], blocked = [], pending = [] }: Partial<Wanted>): JsonObject {
  const lists = Object.entries({ keys, units, blocked, pending }).filter(([, list]) => list.length > 0);
  // All of them are plain data.
  return Object.fromEntries(lists) as unknown as JsonObject;
}
