/** What a value of JSON must be. A table of the specification is written in these words. */
export type Shape =
  | { readonly is: 'string' | 'integer' | 'boolean' | 'timestamp' }
  | { readonly is: 'list' | 'map'; readonly of: Shape }
  | { readonly is: 'object'; readonly members: Members };

/** A member of an object: in requests required or optional, in answers always there unless a ruling says when it is not. */
export interface Member {
  readonly shape: Shape;
  readonly required: boolean;
  /** Why an answer may be without it; of a request, why its value does not count. */
  readonly reason?: string;
}

export type Members = Readonly<Record<string, Member>>;

export const text: Shape = { is: 'string' };
export const integer: Shape = { is: 'integer' };
export const boolean: Shape = { is: 'boolean' };
/** ISO 8601, UTC. */
export const timestamp: Shape = { is: 'timestamp' };

/** `T[]`. */
export function list(of: Shape): Shape {
  return { is: 'list', of };
}

/** An object with free names. */
export function map(of: Shape): Shape {
  return { is: 'map', of };
}

/** A required field of a request. */
export function R(shape: Shape): Member {
  return { shape, required: true };
}

/** An optional field of a request. */
export function O(shape: Shape): Member {
  return { shape, required: false };
}

/** A field that clients may send back, and that counts for nothing. */
export function readOnly(shape: Shape): Member {
  return { shape, required: false, reason: 'read-only' };
}

/** The fields of an object in a request. */
export function fields(members: Members): Shape {
  return { is: 'object', members };
}

/** A member that an answer may be without, and by which ruling. */
export function mayBeAbsent(shape: Shape, reason: string): Member {
  return { shape, required: false, reason };
}

/** An object of an answer: a member that is a plain shape is always there. */
export function answer(members: Readonly<Record<string, Shape | Member>>): Extract<Shape, { is: 'object' }> {
  const entries = Object.entries(members).map(([name, value]) => [name, 'shape' in value ? value : R(value)] as const);
  return { is: 'object', members: Object.fromEntries(entries) };
}

/** The members of an answer of `shapes` together. */
export function both(...shapes: readonly Extract<Shape, { is: 'object' }>[]): Extract<Shape, { is: 'object' }> {
  return { is: 'object', members: Object.assign({}, ...shapes.map(({ members }) => members)) };
}
