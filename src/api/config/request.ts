import type { FastifyRequest } from 'fastify';
import type { Registry } from '../../model/declare/registry.ts';
import { InvalidInput } from '../../model/errors.ts';

/** The members of a query, empty ones left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** The query of a request. */
export function queryOf(request: FastifyRequest): Query {
  const query = request.query as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typeof value === 'string' && value !== '' ? value : undefined]),
  );
}

/** A parameter of the path. */
export function parameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? '';
}

/** A whole number of the query. */
export function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1 && value <= 1_000_000_000)
    return Math.min(value, name === 'limit' ? 1000 : value);
  throw new InvalidInput(`\`${name}\` must be a whole number from 1`);
}

/** A switch of the query. */
export function switchOf(query: Query, name: string, fallback: boolean): boolean {
  const text = query[name];
  if (text === undefined) return fallback;
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidInput(`\`${name}\` must be true or false`);
}

/** Refuses the name of a kind that there is not. */
export function knownKind(registry: Registry, name: string | undefined): void {
  if (name !== undefined && registry.find(name) === undefined)
    throw new InvalidInput(`unknown kind ${name}; known are ${registry.names.join(', ')}`);
}

/** One of some words of the query, if it is there. */
export function wordOf<const Word extends string>(
  query: Query,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw new InvalidInput(`\`${name}\` must be one of ${words.join(', ')}`);
}
