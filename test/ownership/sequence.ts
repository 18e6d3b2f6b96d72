import fc from 'fast-check';
import type { How, Said, Value } from './model.ts';

export const sources = ['a', 'b', 'c'] as const;
export const keys = ['t1', 't2'] as const;

type Change = ReadonlyMap<string, Value | undefined>;

/** One act of a source, a user or the clock. Times are in minutes. */
export type Act =
  | {
      readonly does: 'apply';
      readonly source: string;
      readonly said: ReadonlyMap<string, Said>;
      readonly force: boolean;
    }
  | { readonly does: 'replace'; readonly key: string; readonly change: Change; readonly glass?: number }
  | { readonly does: 'create'; readonly key: string; readonly units: Change }
  | { readonly does: 'delete'; readonly key: string }
  | { readonly does: 'enrol'; readonly key: string; readonly person: string }
  | { readonly does: 'wait'; readonly minutes: number; readonly expire: boolean }
  | { readonly does: 'detach'; readonly source: string }
  | { readonly does: 'rollback'; readonly back: number };

/** Conflict modes of the sources, and the acts in order. */
export interface Sequence {
  readonly modes: ReadonlyMap<string, How['mode']>;
  readonly acts: readonly Act[];
}

/** Extracts small choices from one number, lowest digits first. */
class Dice {
  #left: number;

  constructor(number: number) {
    this.#left = number;
  }

  /** Returns a number from 0 to `sides` - 1. */
  of(sides: number): number {
    const face = this.#left % sides;
    this.#left = Math.floor(this.#left / sides);
    return face;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.of(items.length)] as Item;
  }
}

const number = fc.nat(2 ** 47);
const encoded = fc.tuple(number, fc.array(fc.tuple(fc.nat(99), number, number), { minLength: 1, maxLength: 6 }));

/** Generates sequences with sources of these conflict modes. A failing sequence shrinks to a few simple acts. */
export function sequencesIn(modes: readonly How['mode'][]): fc.Arbitrary<Sequence> {
  return encoded.map(([manners, acts]) => {
    const dice = new Dice(manners);
    return {
      modes: new Map(sources.map((source) => [source, dice.pick(modes)])),
      acts: acts.map(([kind, one, other]) => actOf(kind, new Dice(one), new Dice(other))),
    };
  });
}

function actOf(kind: number, one: Dice, other: Dice): Act {
  const key = one.pick(keys);
  if (kind < 52) return applying(one, other, kind >= 46);
  if (kind < 70) return { does: 'replace', key, change: changeOf(other) };
  if (kind < 80) return { does: 'replace', key, change: changeOf(other), glass: one.pick([30, 60]) };
  if (kind < 86) return { does: 'enrol', key, person: one.pick(['p1', 'p2', 'p3']) };
  if (kind < 92) return { does: 'wait', minutes: one.pick([20, 40]), expire: one.of(2) === 0 };
  if (kind < 94) return { does: 'delete', key };
  if (kind < 96) return { does: 'create', key, units: changeOf(other) };
  return kind < 98 ? { does: 'detach', source: one.pick(sources) } : { does: 'rollback', back: one.of(3) };
}

function applying(one: Dice, other: Dice, force: boolean): Act {
  const source = one.pick(sources);
  const said = new Map<string, Said>();
  for (const [at, dice] of [one, other].entries()) {
    // Now and then a source leaves out a thing.
    if (dice.of(6) === 5) continue;
    said.set(keys[at] as string, saidBy(dice));
  }
  return { does: 'apply', source, said, force };
}

/** Returns a document. Most sources state the same value for most units, so that few of them conflict. */
function saidBy(dice: Dice): Said {
  const units = new Map<string, Value>();
  const add = (path: string, values: readonly (Value | undefined)[]): void => {
    const value = dice.pick(values);
    if (value !== undefined) units.set(path, value);
  };
  add('note', [undefined, undefined, 'x', 'x', 'x', 'y']);
  add('level', [undefined, undefined, 0, 1, 1]);
  add('cut', [undefined, undefined, false, true]);
  add('tags[t]', [undefined, true]);
  add('tags[u]', [undefined, true]);
  add('steps[s]', [undefined, 1, 1, 1, 2]);
  add('crew[p1]', [undefined, true]);
  add('crew[p2]', [undefined, true]);
  return { units, exclusive: dice.of(5) === 0 };
}

function changeOf(dice: Dice): Change {
  const options: readonly (readonly [string, readonly (Value | undefined)[]])[] = [
    ['note', ['', 'x', 'y', 'z']],
    ['level', [0, 1, 2]],
    ['cut', [false, true]],
    ['tags[t]', [undefined, true]],
    ['tags[v]', [undefined, true]],
    ['steps[s]', [undefined, 1, 3]],
    ['crew[p1]', [undefined, true]],
    ['crew[p3]', [undefined, true]],
  ];
  const chosen = Array.from({ length: 1 + dice.of(3) }, () => dice.pick(options));
  return new Map(chosen.map(([path, values]) => [path, dice.pick(values)]));
}
