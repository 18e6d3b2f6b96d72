import { isObject } from '../../lib/json.ts';
import { NotFound } from '../../model/errors.ts';
import { guessHint } from '../arguments.ts';
import { type Client, unreadable } from '../client.ts';

/** A source as the interface shows it. */
export type Source = { readonly [member: string]: unknown };

/** The sources of the account. */
export async function readSources(client: Client): Promise<readonly Source[]> {
  const sources = await client.read('/api/config/sources');
  if (!Array.isArray(sources)) throw unreadable('sources');
  return sources.filter(isObject);
}

/** The source of this name. Throws `NotFound`, with the nearest name, when the account has none. */
export async function requireSource(client: Client, name: string): Promise<Source> {
  const sources = await readSources(client);
  const found = sources.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const names = sources.map(({ id }) => String(id));
  const hint = guessHint(name, names);
  const known = names.length === 0 ? '; there are no sources.' : `; there are ${names.join(', ')}.`;
  throw new NotFound(`source ${name} not found${hint === '' ? known : hint}`);
}
