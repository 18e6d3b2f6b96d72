import type { Json } from '../../lib/json.ts';
import type { Kind } from './kind.ts';

/** The stored id of a counted object: ids are unique per account, numbers only per kind. */
export function numberedId(kind: Kind, number: number): string {
  return `${kind.name.toLowerCase()}-${number}`;
}

/** The number of a stored id of a counted kind. */
export function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('-') + 1));
}

/** An id as the interface shows it. */
export function wireId(kind: Kind, id: string): Json {
  return kind.ids === 'integer' ? numberOf(id) : id;
}

/** The stored id that a path segment names; `undefined` when it cannot be one. */
export function storedId(kind: Kind, segment: string): string | undefined {
  if (kind.ids !== 'integer') return segment;
  return /^[1-9]\d{0,14}$/.test(segment) ? numberedId(kind, Number(segment)) : undefined;
}

/** Assigns ids to new objects: numbers go on from the last one that the account gave to the kind. */
export function createIdGiver(last: (kind: string) => number, newId: () => string): (kind: Kind) => string {
  const given = new Map<string, number>();
  return (kind) => {
    if (kind.ids !== 'integer') return newId();
    const number = (given.get(kind.name) ?? last(kind.name)) + 1;
    given.set(kind.name, number);
    return numberedId(kind, number);
  };
}
