import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Member, Members, Shape } from './shape.ts';

/** A field at its place in a body. */
export interface Place {
  readonly pointer: string;
  readonly name: string;
  readonly member: Member;
}

/** The fields that a body has, however deep. */
export function placesIn(members: Members, body: JsonObject, pointer = ''): readonly Place[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const value = body[name];
    if (value === undefined) return [];
    const at = `${pointer}/${name}`;
    return [{ pointer: at, name, member }, ...placesInValue(member.shape, value, at)];
  });
}

function placesInValue(shape: Shape, value: Json, pointer: string): readonly Place[] {
  if (shape.is === 'object' && isObject(value)) return placesIn(shape.members, value as JsonObject, pointer);
  if (shape.is !== 'list' || !Array.isArray(value)) return [];
  return (value as readonly Json[]).flatMap((item, at) => placesInValue(shape.of, item, `${pointer}/${at}`));
}

/** The paths of all fields of a request, without the numbers of list items. */
export function pathsOf(members: Members, pointer = ''): readonly string[] {
  return Object.entries(members).flatMap(([name, { shape }]) => {
    const inner = shape.is === 'list' ? shape.of : shape;
    const at = `${pointer}/${name}`;
    return [at, ...(inner.is === 'object' ? pathsOf(inner.members, at) : [])];
  });
}

/** Values of other types than a field has, each with the place where it is put. */
export function wrongTypes({ pointer, member }: Place, value: Json): readonly (readonly [string, Json])[] {
  const { shape } = member;
  const wrong = wrongValues[shape.is].map((other) => [pointer, other] as const);
  if (shape.is === 'list' && Array.isArray(value) && value.length > 0)
    return [...wrong, ...wrongValues[shape.of.is].map((other) => [`${pointer}/0`, other] as const)];
  if (shape.is === 'map' && isObject(value) && Object.keys(value).length > 0) {
    const [name = ''] = Object.keys(value);
    return [...wrong, ...wrongValues[shape.of.is].map((other) => [`${pointer}/${name}`, other] as const)];
  }
  return wrong;
}

const wrongValues: Readonly<Record<Shape['is'], readonly Json[]>> = {
  string: [7],
  timestamp: [7],
  integer: ['7', 7.5],
  boolean: ['true'],
  list: ['x', { a: 1 }],
  map: ['x', ['x']],
  object: ['x', ['x']],
};

/** The value at a JSON pointer. */
export function valueAt(body: JsonObject, pointer: string): Json {
  return pointer
    .split('/')
    .slice(1)
    .reduce<Json>((inner, segment) => (inner as JsonObject)[segment] as Json, body);
}
