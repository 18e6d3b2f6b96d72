import type { JsonObject } from '../../lib/json.ts';
import type { MemberEdit } from '../state/members.ts';
import type { StoredObject } from '../state/object.ts';
import type { Actor, Caller } from './actor.ts';

/** One object before and after a change. Without `before` it is created, without `after` it is deleted. */
export interface ObjectChange<O = StoredObject> {
  readonly before?: O;
  readonly after?: O;
  /** `inputs` of the request in canonical form. Absent when there was no request. */
  readonly given?: JsonObject;
  /** The caller. Absent for changes that the server makes itself. */
  readonly actor?: Actor;
  newId(): string;
}

/** A change of one object by a caller, for rules that depend on the caller and on the stored object. */
export type Mutation<O = StoredObject> = Pick<ObjectChange<O>, 'before' | 'after'> & {
  readonly actor?: Caller;
  /** Set when the change is part of a rollback to an earlier state. */
  readonly rollback?: true;
};

/** A change that follows from another one: an update of a stored object, its deletion, or a new object. */
export type DerivedChange =
  | {
      readonly change: StoredObject;
      /** Absent: the spec is unchanged. */
      readonly spec?: JsonObject;
      /** Members whose origins change, by membership field. */
      readonly members?: Readonly<Record<string, readonly MemberEdit[]>>;
      readonly derived?: JsonObject;
    }
  | { readonly remove: StoredObject }
  | {
      readonly add: {
        readonly id: string;
        readonly kind: string;
        readonly parent?: string;
        readonly spec: JsonObject;
        readonly derived: JsonObject;
      };
    };
