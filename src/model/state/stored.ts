import type { JsonObject } from '../../lib/json.ts';
import { Internal } from '../errors.ts';
import type { Fields, SpecOf } from '../schema/field.ts';
import type { StoredObject } from './object.ts';

/**
 * The declared fields and the server-chosen values of every kind, by its name. Each kind adds itself beside its
 * declaration:
 *
 * declare module '../../model/state/stored.ts' { interface KindTypes { User: { fields: typeof spec; derived: { readonly
 * idp_id?: string } }; } }
 */
// biome-ignore lint/suspicious/noEmptyInterface: kinds add their members by declaration merging.
export interface KindTypes {}

/** Name of a declared kind. */
export type KindName = keyof KindTypes;

/**
 * Stored spec of a kind, without memberships. Every field may be absent: a row can be older than the field, and
 * optional fields are left out.
 */
export type StoredSpec<K extends KindName> = JsonObject &
  DeepPartial<Omit<SpecOf<KindTypes[K]['fields']>, MembershipOf<KindTypes[K]['fields']>>>;

/** Values of a kind that the server chose, as stored. */
export type StoredDerived<K extends KindName> = JsonObject & CommonDerived & Partial<KindTypes[K]['derived']>;

/** A stored object of a known kind, whose fields have their declared types. */
export interface Stored<K extends KindName> extends StoredObject {
  readonly kind: K;
  readonly spec: StoredSpec<K>;
  readonly derived: StoredDerived<K>;
}

/** Stored object of the kind with this name. For a kind that is known only at run time, any stored object. */
export type ObjectOf<Name extends string> = Name extends KindName ? Stored<Name> : StoredObject;

/** Name of a top-level field of a kind. */
export type FieldNameOf<Name extends string> = Name extends KindName
  ? keyof KindTypes[Name]['fields'] & string
  : string;

/** Whether an object is of a kind. */
export function isOfKind<K extends KindName>(object: StoredObject | undefined, kind: K): object is Stored<K> {
  return object?.kind === kind;
}

/** Casts an object to the types of a kind. Throws `Internal` when it is of another kind. */
export function asKind<K extends KindName>(object: StoredObject, kind: K): Stored<K> {
  if (isOfKind(object, kind)) return object;
  throw new Internal(`the object ${object.id} is of the kind ${object.kind}, not of ${kind}`);
}

/** Server-chosen values that objects of any kind may have. */
interface CommonDerived {
  /** Id of the object from which the server derived this one. */
  readonly derived_from?: string;
  /** Marks an object that belongs to the server. */
  readonly system?: string;
  /** Id of the user or source that created the object. */
  readonly created_by?: string;
  /** Time at which data was last fetched from an external system, in ISO 8601. */
  readonly last_synced_at?: string;
}

/** Names of the fields whose values are stored outside the spec. */
type MembershipOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends { readonly type: 'members' } ? Name : never;
}[keyof F];

/** A value in which every member of every object may be absent. */
type DeepPartial<T> = T extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : T extends { readonly [member: string]: unknown }
    ? string extends keyof T
      ? { readonly [Member in keyof T]: DeepPartial<T[Member]> }
      : { readonly [Member in keyof T]?: DeepPartial<Exclude<T[Member], undefined>> }
    : T;
