import type { State } from '../declare/kind.ts';
import { countKey, indexKey, parentField, partKeys } from './facets.ts';
import type { StoredObject } from './object.ts';
import type { ObservationLookup } from './observed.ts';
import type { FieldNameOf, ObjectOf } from './stored.ts';

/** Result of a look-up about an object that is not part of a revision. */
export interface ExternalLookup {
  readonly at: (typeof lookupNames)[number];
  readonly id: string;
  readonly found: unknown;
}

const lookupNames = ['observed', 'countAccessible', 'disapproval'] as const;

/** Whether repeating the look-up on a state returns the same value. */
export function isLookupUnchanged({ at, id, found }: ExternalLookup, state: State): boolean {
  return state[at]?.(id) === found;
}

/**
 * State that records what is read from it. A result computed from it stays valid until one of these parts changes or a
 * repeated look-up returns another value. It has neither `now` nor `viewer`: results that depend on them are not
 * cached.
 */
export class WatchedState implements State {
  readonly readParts = new Set<string>();
  readonly lookups: ExternalLookup[] = [];
  readonly observed?: ObservationLookup;
  readonly countAccessible?: (peer: string) => number;
  readonly disapproval?: (peer: string) => string | undefined;
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
    const { observed, countAccessible, disapproval } = state;
    if (observed !== undefined) this.observed = (id) => this.#recordLookup('observed', id, observed(id));
    if (countAccessible !== undefined)
      this.countAccessible = (peer) => this.#recordLookup('countAccessible', peer, countAccessible(peer));
    if (disapproval !== undefined)
      this.disapproval = (peer) => this.#recordLookup('disapproval', peer, disapproval(peer));
  }

  get account(): string {
    return this.#state.account;
  }

  get(id: string): StoredObject | undefined {
    this.readParts.add(partKeys.object(id));
    return this.#state.get(id);
  }

  find<Name extends string>(kind: Name, id: string): ObjectOf<Name> | undefined {
    this.readParts.add(partKeys.object(id));
    return this.#state.find(kind, id);
  }

  ofKind<Name extends string>(kind: Name): readonly ObjectOf<Name>[] {
    this.readParts.add(partKeys.objectsOf(kind));
    return this.#state.ofKind(kind);
  }

  countOf(kind: string): number {
    this.readParts.add(partKeys.countOf(kind));
    return this.#state.countOf(kind);
  }

  childrenOf<Name extends string>(parent: string, kind: Name): readonly ObjectOf<Name>[] {
    return this.#recordEntry(indexKey(kind, parentField, parent), this.#state.childrenOf(parent, kind));
  }

  lookUp<Name extends string>(kind: Name, index: string, value: string): readonly ObjectOf<Name>[] {
    return this.#recordEntry(indexKey(kind, index, value), this.#state.lookUp(kind, index, value));
  }

  /**
   * The holder of a value depends on all objects of the kind, so all are recorded. No cached result calls this method.
   */
  findByUnique<Name extends string>(kind: Name, rule: string, value: string): ObjectOf<Name> | undefined {
    this.readParts.add(partKeys.objectsOf(kind));
    return this.#state.findByUnique(kind, rule, value);
  }

  referrersOf(id: string): ReturnType<State['referrersOf']> {
    const found = this.#state.referrersOf(id);
    this.readParts.add(partKeys.referrers(id));
    for (const { from } of found) this.readParts.add(partKeys.object(from.id));
    return found;
  }

  referrersBy<Name extends string>(kind: Name, field: FieldNameOf<Name>, id: string): readonly ObjectOf<Name>[] {
    const found = this.#state.referrersBy(kind, field, id);
    this.readParts.add(partKeys.referrers(id));
    for (const from of found) this.readParts.add(partKeys.object(from.id));
    return found;
  }

  countReferrers(id: string, kind: string, field: string): number {
    this.readParts.add(partKeys.count(countKey(id, kind, field)));
    return this.#state.countReferrers(id, kind, field);
  }

  /** Records a look-up once. Look-ups repeat often but concern few objects, so a list is the smallest structure. */
  #recordLookup<Found>(at: ExternalLookup['at'], id: string, found: Found): Found {
    if (!this.lookups.some((look) => look.at === at && look.id === id)) this.lookups.push({ at, id, found });
    return found;
  }

  #recordEntry<Found extends StoredObject>(entry: string, found: readonly Found[]): readonly Found[] {
    this.readParts.add(partKeys.entry(entry));
    for (const { id } of found) this.readParts.add(partKeys.object(id));
    return found;
  }
}
