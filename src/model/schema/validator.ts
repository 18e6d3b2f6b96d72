import { type Json, type JsonObject, pointerTo } from '../../lib/json.ts';
import type { Fault } from '../declare/kind.ts';
import type { Surface } from '../lower/shape.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** Checks the shape of specs: one schema per kind and surface, prepared when first needed. */
export interface Validator {
  /**
   * All faults at once; paths are JSON pointers into the spec. No value is repeated in a message: it may be a
   * secret. A text that is too long, or a number out of range, is no fault when it is stored already.
   */
  check(kind: string, surface: Surface, spec: JsonObject, isStored?: IsStored): readonly Fault[];
}

/** Whether a text, or a number as `numberAt` has it, is stored already: limits are for what is new. */
export type IsStored = (text: string) => boolean;

/** The texts of one spec. They are looked for when the first text is too long, which is rare. */
export function textsOf(spec: Json | undefined): IsStored {
  return lookUp(() => [spec]);
}

/** The texts of all objects of a kind: which of them a document is about is found out later. */
export function textsOfKind(snapshot: Snapshot): (kind: string) => IsStored {
  const known = new Map<string, IsStored>();
  return (kind) => {
    const present = known.get(kind);
    if (present !== undefined) return present;
    const made = lookUp(() => snapshot.ofKind(kind).map(({ spec }) => spec));
    known.set(kind, made);
    return made;
  };
}

function lookUp(specs: () => readonly (Json | undefined)[]): IsStored {
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
    else if (typeof value === 'number') found.add(numberAt(pointer, value));
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) waiting.push([pointerTo(pointer, name), inner as Json]);
  }
  return found;
}

/** A number is stored as the value of one member, not of any. */
export function numberAt(pointer: string, value: number): string {
  return `${pointer} = ${value}`;
}
