import type { JsonObject } from '../../lib/json.ts';
import { Internal } from '../errors.ts';
import type { Fields, SpecOf } from '../schema/field.ts';
import type { StoredObject } from './object.ts';

/**
 * The declared fields and the server-chosen values of every kind, by its name. Each kind adds itself beside its declaration:
 *
 *     declare module '../../model/state/stored.ts' {
 *       interface KindTypes {
 *         User: { fields: typeof spec; derived: { readonly idp_id?: string } };
 *       }
 *     }
 */
// biome-ignore lint/suspicious/noEmptyInterface: kinds add their members by declaration merging.
export interface KindTypes {}

/** The name of a declared kind. */
export type KindName = keyof KindTypes;

/**
 * The stored spec of a kind. Every field may be absent: a row can be older than the field, and optional fields are left out.
 * Memberships are not in it.
 */
export type StoredSpec<K extends KindName> = JsonObject &
  Stated<Omit<SpecOf<KindTypes[K]['fields']>, MembershipOf<KindTypes[K]['fields']>>>;

/** The stored values of a kind that the server chose. */
export type StoredDerived<K extends KindName> = JsonObject & CommonDerived & Partial<KindTypes[K]['derived']>;

/** A stored object whose kind is known, so that its fields are read by their declared types. */
export interface Stored<K extends KindName> extends StoredObject {
  readonly kind: K;
  readonly spec: StoredSpec<K>;
  readonly derived: StoredDerived<K>;
}

/** A stored object of the kind with this name; of a kind that is only known when the program runs, any stored object. */
export type ObjectOf<Name extends string> = Name extends KindName ? Stored<Name> : StoredObject;

/** The name of a top-level field of a kind. */
export type FieldOf<Name extends string> = Name extends KindName ? keyof KindTypes[Name]['fields'] & string : string;

/** Whether an object is of a kind. */
export function isOfKind<K extends KindName>(object: StoredObject | undefined, kind: K): object is Stored<K> {
  return object?.kind === kind;
}

/** The object with the types of a kind. Throws `Internal` when it is of another one. */
export function asKind<K extends KindName>(object: StoredObject, kind: K): Stored<K> {
  if (isOfKind(object, kind)) return object;
  throw new Internal(`the object ${object.id} is of the kind ${object.kind}, not of ${kind}`);
}

/** Server-chosen values that objects of any kind may have. */
interface CommonDerived {
  /** The id of the object from which the server derived this one. */
  readonly derived_from?: string;
  /** Marks an object as the server's own. */
  readonly system?: string;
  /** The id of the user or the source that made it. */
  readonly created_by?: string;
  /** When data was last fetched from outside, ISO 8601. */
  readonly last_synced_at?: string;
}

/** The names of the fields whose values stand beside the spec. */
type MembershipOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends { readonly type: 'members' } ? Name : never;
}[keyof F];

/** A value in which every member of every object may be absent. */
type Stated<T> = T extends readonly (infer Item)[]
  ? readonly Stated<Item>[]
  : T extends { readonly [member: string]: unknown }
    ? string extends keyof T
      ? { readonly [Member in keyof T]: Stated<T[Member]> }
      : { readonly [Member in keyof T]?: Stated<Exclude<T[Member], undefined>> }
    : T;
