import type { Json } from '../../lib/json.ts';
import type { Kind } from './kind.ts';

/** Returns the stored id of an object with a number. Stored ids are unique per account, numbers only per kind. */
export function numberedId(kind: Kind, number: number): string {
  return `${kind.name.toLowerCase()}-${number}`;
}

/** Returns the number in the stored id of an object whose kind has numeric ids. */
export function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}

/** Converts a stored id to the id that the API shows. */
export function wireId(kind: Kind, id: string): Json {
  return kind.ids === 'integer' ? numberOf(id) : id;
}

/** Converts a path segment to a stored id. Returns `undefined` when the segment cannot be an id. */
export function storedId(kind: Kind, segment: string): string | undefined {
  if (kind.ids !== 'integer') return segment;
  return /^[1-9]\d{0,14}$/.test(segment) ? numberedId(kind, Number(segment)) : undefined;
}

/**
 * Returns a function that assigns ids to new objects. Numbers continue after the last one assigned in the account,
 * which `last` returns for a kind.
 */
export function createIdAssigner(last: (kind: string) => number, newId: () => string): (kind: Kind) => string {
  const given = new Map<string, number>();
  return (kind) => {
    if (kind.ids !== 'integer') return newId();
    const number = (given.get(kind.name) ?? last(kind.name)) + 1;
    given.set(kind.name, number);
    return numberedId(kind, number);
  };
}
