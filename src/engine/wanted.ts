import type { Json, JsonObject } from '../lib/json.ts';
import type { Wanted } from '../plan/contested.ts';
import { listWanted, putWanted } from '../store/wanted.ts';
import type { Engine } from './engine.ts';

/** What the sources of an account want and could not have. */
export async function wantedIn(engine: Engine, account: string): Promise<readonly Wanted[]> {
  const rows = await listWanted(engine.database, account);
  // Written by `noteWanted`, and its keys by the loops of sources.
  return rows.map(({ source, wanted }) => ({ keys: [], units: [], ...(wanted as Partial<Wanted>), source }));
}

/** Writes down what a source wants and could not have, so that the others refuse to decide against it; or that it lacks nothing. */
export async function noteWanted(
  engine: Engine,
  account: string,
  source: string,
  wanted: Omit<Wanted, 'source'>,
): Promise<void> {
  const { keys, units } = wanted;
  const isNothing = keys.length + units.length === 0;
  // Both are plain data.
  const note: JsonObject = isNothing ? {} : { keys, units: units as unknown as Json };
  await putWanted(engine.database, account, source, note, engine.now());
}
