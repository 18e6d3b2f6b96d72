import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Member, Members, Shape } from './shape.ts';

/** A field of a body, with its JSON pointer. */
export interface BodyField {
  readonly pointer: string;
  readonly name: string;
  readonly member: Member;
}

/** Returns the fields that a body has, at any depth. */
export function fieldsIn(members: Members, body: JsonObject, pointer = ''): readonly BodyField[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const value = body[name];
    if (value === undefined) return [];
    const at = `${pointer}/${name}`;
    return [{ pointer: at, name, member }, ...fieldsInValue(member.shape, value, at)];
  });
}

function fieldsInValue(shape: Shape, value: Json, pointer: string): readonly BodyField[] {
  if (shape.is === 'object' && isObject(value)) return fieldsIn(shape.members, value as JsonObject, pointer);
  if (shape.is !== 'list' || !Array.isArray(value)) return [];
  return (value as readonly Json[]).flatMap((item, at) => fieldsInValue(shape.of, item, `${pointer}/${at}`));
}

/** Returns the paths of all fields of a request, without the indexes of list items. */
export function pathsOf(members: Members, pointer = ''): readonly string[] {
  return Object.entries(members).flatMap(([name, { shape }]) => {
    const inner = shape.is === 'list' ? shape.of : shape;
    const at = `${pointer}/${name}`;
    return [at, ...(inner.is === 'object' ? pathsOf(inner.members, at) : [])];
  });
}

/** Returns values of types that the field does not have, each with the JSON pointer to put it at. */
export function wrongTypes({ pointer, member }: BodyField, value: Json): readonly (readonly [string, Json])[] {
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

/** Returns the value at a JSON pointer. */
export function valueAt(body: JsonObject, pointer: string): Json {
  return pointer
    .split('/')
    .slice(1)
    .reduce<Json>((inner, segment) => (inner as JsonObject)[segment] as Json, body);
}
