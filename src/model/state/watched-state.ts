import type { State } from '../declare/kind.ts';
import { countKey, indexKey, parentField, parts } from './facets.ts';
import type { StoredObject } from './object.ts';
import type { Observed } from './observed.ts';
import type { FieldOf, ObjectOf } from './stored.ts';

/** Result of a look-up about an object that is not part of a revision. */
export interface Look {
  readonly at: (typeof looks)[number];
  readonly id: string;
  readonly found: unknown;
}

const looks = ['observed', 'countAccessible', 'disapproval'] as const;

/** Whether repeating the look-up on a state returns the same value. */
export function isFoundAgain({ at, id, found }: Look, state: State): boolean {
  return state[at]?.(id) === found;
}

/**
 * State that records what is read from it. A result computed from it stays valid until one of these parts changes or a
 * repeated look-up returns another value. It has neither `now` nor `viewer`: results that depend on them are not
 * cached.
 */
export class WatchedState implements State {
  readonly seen = new Set<string>();
  readonly looks: Look[] = [];
  readonly observed?: Observed;
  readonly countAccessible?: (peer: string) => number;
  readonly disapproval?: (peer: string) => string | undefined;
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
    const { observed, countAccessible, disapproval } = state;
    if (observed !== undefined) this.observed = (id) => this.#note('observed', id, observed(id));
    if (countAccessible !== undefined)
      this.countAccessible = (peer) => this.#note('countAccessible', peer, countAccessible(peer));
    if (disapproval !== undefined) this.disapproval = (peer) => this.#note('disapproval', peer, disapproval(peer));
  }

  get account(): string {
    return this.#state.account;
  }

  get(id: string): StoredObject | undefined {
    this.seen.add(parts.object(id));
    return this.#state.get(id);
  }

  find<Name extends string>(kind: Name, id: string): ObjectOf<Name> | undefined {
    this.seen.add(parts.object(id));
    return this.#state.find(kind, id);
  }

  ofKind<Name extends string>(kind: Name): readonly ObjectOf<Name>[] {
    this.seen.add(parts.objectsOf(kind));
    return this.#state.ofKind(kind);
  }

  countOf(kind: string): number {
    this.seen.add(parts.countOf(kind));
    return this.#state.countOf(kind);
  }

  childrenOf<Name extends string>(parent: string, kind: Name): readonly ObjectOf<Name>[] {
    return this.#all(indexKey(kind, parentField, parent), this.#state.childrenOf(parent, kind));
  }

  lookUp<Name extends string>(kind: Name, index: string, value: string): readonly ObjectOf<Name>[] {
    return this.#all(indexKey(kind, index, value), this.#state.lookUp(kind, index, value));
  }

  /**
   * The holder of a value depends on all objects of the kind, so all are recorded. No cached result calls this method.
   */
  holderOf<Name extends string>(kind: Name, rule: string, value: string): ObjectOf<Name> | undefined {
    this.seen.add(parts.objectsOf(kind));
    return this.#state.holderOf(kind, rule, value);
  }

  referrersOf(id: string): ReturnType<State['referrersOf']> {
    const found = this.#state.referrersOf(id);
    this.seen.add(parts.referrers(id));
    for (const { from } of found) this.seen.add(parts.object(from.id));
    return found;
  }

  referrersBy<Name extends string>(kind: Name, field: FieldOf<Name>, id: string): readonly ObjectOf<Name>[] {
    const found = this.#state.referrersBy(kind, field, id);
    this.seen.add(parts.referrers(id));
    for (const from of found) this.seen.add(parts.object(from.id));
    return found;
  }

  countReferrers(id: string, kind: string, field: string): number {
    this.seen.add(parts.count(countKey(id, kind, field)));
    return this.#state.countReferrers(id, kind, field);
  }

  /** Records a look-up once. Look-ups repeat often but concern few objects, so a list is the smallest structure. */
  #note<Found>(at: Look['at'], id: string, found: Found): Found {
    if (!this.looks.some((look) => look.at === at && look.id === id)) this.looks.push({ at, id, found });
    return found;
  }

  #all<Found extends StoredObject>(entry: string, found: readonly Found[]): readonly Found[] {
    this.seen.add(parts.entry(entry));
    for (const { id } of found) this.seen.add(parts.object(id));
    return found;
  }
}
