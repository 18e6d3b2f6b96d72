/** Type of a JSON value, in the terms of the specification's tables. */
export type Shape =
  | { readonly is: 'string' | 'integer' | 'boolean' | 'timestamp' }
  | { readonly is: 'list' | 'map'; readonly of: Shape }
  | { readonly is: 'object'; readonly members: Members };

/**
 * A member of an object. In requests it is required or optional; in answers it is always present, unless a ruling says
 * otherwise.
 */
export interface Member {
  readonly shape: Shape;
  readonly required: boolean;
  /** In an answer, why the member may be absent; in a request, why its value is ignored. */
  readonly reason?: string;
}

export type Members = Readonly<Record<string, Member>>;

export const text: Shape = { is: 'string' };
export const integer: Shape = { is: 'integer' };
export const boolean: Shape = { is: 'boolean' };
/** Time in ISO 8601, UTC. */
export const timestamp: Shape = { is: 'timestamp' };

/** Returns the shape of a list (`T[]`). */
export function list(of: Shape): Shape {
  return { is: 'list', of };
}

/** Returns the shape of an object with arbitrary member names. */
export function map(of: Shape): Shape {
  return { is: 'map', of };
}

/** Returns a required field of a request. */
export function R(shape: Shape): Member {
  return { shape, required: true };
}

/** Returns an optional field of a request. */
export function O(shape: Shape): Member {
  return { shape, required: false };
}

/** Returns a field that clients may send back and whose value is ignored. */
export function readOnly(shape: Shape): Member {
  return { shape, required: false, reason: 'read-only' };
}

/** Returns the shape of an object in a request. */
export function fields(members: Members): Shape {
  return { is: 'object', members };
}

/** Returns a member that an answer may omit; `reason` names the ruling that allows it. */
export function mayBeAbsent(shape: Shape, reason: string): Member {
  return { shape, required: false, reason };
}

/** Returns the shape of an object in an answer. Members that are plain shapes are always present. */
export function answer(members: Readonly<Record<string, Shape | Member>>): Extract<Shape, { is: 'object' }> {
  const entries = Object.entries(members).map(([name, value]) => [name, 'shape' in value ? value : R(value)] as const);
  return { is: 'object', members: Object.fromEntries(entries) };
}

/** Returns the shape of an answer that has the members of all `shapes`. */
export function both(...shapes: readonly Extract<Shape, { is: 'object' }>[]): Extract<Shape, { is: 'object' }> {
  return { is: 'object', members: Object.assign({}, ...shapes.map(({ members }) => members)) };
}
