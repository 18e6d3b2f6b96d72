import { isObject } from '../../src/lib/json.ts';
import type { Answer } from '../api/setup.ts';
import type { Answered } from './row.ts';
import type { Member, Shape } from './shape.ts';

/** Returns the faults of an answer, one sentence each. Adds the members that the answer has to `seen`. */
export function faultsOfAnswer(answered: Answered, { body }: Answer, seen: Set<Member>): readonly string[] {
  if (answered === 'no body') return body === '' ? [] : [`has a body: ${JSON.stringify(body)}`];
  if (answered === 'empty object')
    return isObject(body) && Object.keys(body).length === 0 ? [] : [`is no empty object: ${JSON.stringify(body)}`];
  return faultsOf(answered, body, '', seen);
}

function faultsOf(shape: Shape, value: unknown, path: string, seen: Set<Member>): readonly string[] {
  if (!hasType(shape, value)) return [`${path || 'the answer'} is no ${shape.is}: ${JSON.stringify(value)}`];
  switch (shape.is) {
    case 'list':
      return (value as readonly unknown[]).flatMap((item, at) => faultsOf(shape.of, item, `${path}/${at}`, seen));
    case 'map':
      return Object.entries(value as object).flatMap(([name, item]) =>
        faultsOf(shape.of, item, `${path}/${name}`, seen),
      );
    case 'object':
      return Object.entries(shape.members).flatMap(([name, member]) => {
        const present = (value as Readonly<Record<string, unknown>>)[name];
        if (present === undefined) return member.required ? [`${path}/${name} is missing`] : [];
        seen.add(member);
        return faultsOf(member.shape, present, `${path}/${name}`, seen);
      });
    default:
      return [];
  }
}

function hasType({ is }: Shape, value: unknown): boolean {
  switch (is) {
    case 'string':
    case 'boolean':
      return typeof value === is;
    case 'integer':
      return Number.isSafeInteger(value);
    case 'timestamp':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
    case 'list':
      return Array.isArray(value);
    case 'map':
    case 'object':
      return isObject(value);
  }
}

/** Returns every member of an operation's answer, with its path. */
export function membersOf(shape: Shape, path = ''): readonly (readonly [string, Member])[] {
  if (shape.is === 'list' || shape.is === 'map') return membersOf(shape.of, `${path}/*`);
  if (shape.is !== 'object') return [];
  return Object.entries(shape.members).flatMap(([name, member]) => [
    [`${path}/${name}`, member] as const,
    ...membersOf(member.shape, `${path}/${name}`),
  ]);
}
