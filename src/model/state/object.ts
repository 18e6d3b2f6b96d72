import type { JsonObject } from '../../lib/json.ts';
import type { Members } from './members.ts';

/** What one source states about one object: only the stated fields, canonical, with references as ids. */
export type Declaration = {
  readonly source: string;
  readonly stated: JsonObject;
  readonly file: string;
  readonly line: number;
  /** True when its memberships are to contain only what sources state. */
  readonly exclusive?: true;
};

/** A unit whose stated value is temporarily overridden. The overriding value is in the spec. */
export type Override = {
  /** Path of the unit. */
  readonly path: string;
  readonly by: { readonly id: string; readonly name: string };
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly until: string;
};

/** Commit of a source as recorded in a revision: the author's name and the first line of the message. */
export type CommitInfo = {
  readonly author: string;
  readonly subject: string;
};

/** By membership field: sort keys of the elements that are not sorted by their id. */
export type SortKeys = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** One stored instance of a kind. Immutable by convention: a change creates a new value. */
export type StoredObject = {
  readonly id: string;
  readonly kind: string;
  readonly parent?: string;
  /** `metadata.name` in documents. Absent for objects created through the API, until a source adopts them. */
  readonly key?: string;
  /** Display name. */
  readonly name: string;
  /**
   * Canonical spec: defaults filled in, sets sorted, references as ids. Memberships are stored separately;
   * `completeSpec` joins both.
   */
  readonly spec: JsonObject;
  /**
   * Members with their origins, by membership field. Absent when the kind has no such field, or all memberships are
   * empty.
   */
  readonly members?: Readonly<Record<string, Members>>;
  /** Absent: every membership is sorted by id. */
  readonly sortKeys?: SortKeys;
  /** Values that the server chose, except counts, and how lists and texts were written. */
  readonly derived: JsonObject;
  /** Source that owns the life cycle. Absent: none. */
  readonly owner?: string;
  readonly protected: boolean;
  readonly createdRevision: number;
  readonly updatedRevision: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly declared: readonly Declaration[];
  /** Sorted by path. Absent: none. */
  readonly overrides?: readonly Override[];
  /** Former keys, by which documents may still name the object. Absent: none. */
  readonly aliases?: readonly string[];
};

/**
 * Returns the id of the object from which the server derived this one; `undefined` for other objects. A derived object
 * is changed and deleted together with its origin.
 */
export function derivedFromId(object: StoredObject): string | undefined {
  const origin = object.derived['derived_from'];
  return typeof origin === 'string' ? origin : undefined;
}

/**
 * Returns the members that a new object has in addition to its content before it is committed. The plan sets the
 * revisions.
 */
export function uncommittedMembers(now: string) {
  return { protected: false, createdRevision: 0, updatedRevision: 0, createdAt: now, updatedAt: now, declared: [] };
}
