import { NotFound } from '../../model/errors.ts';
import { sources as operations, type Source } from '../../operations/config/sources.ts';
import { guessHint } from '../arguments.ts';
import { type Client, call } from '../client.ts';

/** Returns all sources of the account. */
export function readSources(client: Client): Promise<readonly Source[]> {
  return call(client, operations.list);
}

/**
 * Returns the source with this name. Throws `NotFound`, with the most similar name, when the account has no such
 * source.
 */
export async function requireSource(client: Client, name: string): Promise<Source> {
  const sources = await readSources(client);
  const found = sources.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const names = sources.map(({ id }) => id);
  const hint = guessHint(name, names);
  const known = names.length === 0 ? '; there are no sources.' : `; there are ${names.join(', ')}.`;
  throw new NotFound(`source ${name} not found${hint === '' ? known : hint}`);
}
