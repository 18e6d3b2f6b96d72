import { appendPointer, countMembers, type Json, type JsonObject } from '../../lib/json.ts';
import type { Fault } from '../declare/kind.ts';
import type { Surface } from '../lower/shape.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** Checks the shape of specs against one schema per kind and surface, each compiled at first use. */
export interface Validator {
  /**
   * Returns the faults, with JSON pointers into the spec, and stops soon after `most` of them. Messages never repeat a
   * value, because it may be a secret. A text or list that is too long or a number out of range is no fault when it is
   * stored already.
   */
  check(kind: string, surface: Surface, spec: JsonObject, isStored?: IsStored, most?: number): readonly Fault[];
}

/**
 * Whether a text, a number in the form of `numberLookupText`, or the size of a list in the form of `sizeLookupText` is
 * stored already. Limits apply only to new values.
 */
export type IsStored = (text: string) => boolean;

/**
 * Returns a lookup of the texts in one spec. The spec is searched at the first call, which is rare: only a value beyond
 * a limit needs it.
 */
export function createStoredCheck(spec: Json | undefined): IsStored {
  return createTextCheck(() => [spec]);
}

/**
 * Returns a lookup of the texts in all objects of a kind, because the object that a document describes is identified
 * only later.
 */
export function createStoredCheckByKind(snapshot: Snapshot): (kind: string) => IsStored {
  const known = new Map<string, IsStored>();
  return (kind) => {
    const present = known.get(kind);
    if (present !== undefined) return present;
    const made = createTextCheck(() => snapshot.ofKind(kind).map(({ spec }) => spec));
    known.set(kind, made);
    return made;
  };
}

function createTextCheck(specs: () => readonly (Json | undefined)[]): IsStored {
  let texts: ReadonlySet<string> | undefined;
  return (text) => {
    texts ??= collect(specs());
    return texts.has(text);
  };
}

function collect(values: readonly (Json | undefined)[]): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = values.map((value): readonly [pointer: string, value: Json | undefined] => ['', value]);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [pointer, value] = next;
    if (typeof value === 'string') found.add(value);
    else if (typeof value === 'number') found.add(numberLookupText(pointer, value));
    else if (typeof value === 'object' && value !== null) {
      found.add(sizeLookupText(pointer, value));
      for (const [name, inner] of Object.entries(value)) waiting.push([appendPointer(pointer, name), inner as Json]);
    }
  }
  return found;
}

/**
 * Returns the lookup form of a number. It contains the pointer, because a stored number is exempt only for its own
 * member.
 */
export function numberLookupText(pointer: string, value: number): string {
  return `${pointer} = ${value}`;
}

/**
 * Returns the lookup form of the number of entries of a list or members of a map. It contains only the name of the
 * list: stored entries are sorted, so the pointer of a list inside an entry may differ.
 */
export function sizeLookupText(pointer: string, value: object): string {
  return `${pointer.split('/').at(-1)} has ${countMembers(value)} entries`;
}
