import type { Json } from '../../lib/json.ts';
import type { Snapshot } from './snapshot.ts';

/** Whether a text is stored already: limits of length are for texts that are new. */
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
  const waiting: (Json | undefined)[] = [...values];
  for (let value = waiting.pop(); value !== undefined || waiting.length > 0; value = waiting.pop()) {
    if (typeof value === 'string') found.add(value);
    else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) waiting.push(inner);
  }
  return found;
}
