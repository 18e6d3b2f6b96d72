import type { JsonObject } from '../../lib/json.ts';
import type { Members } from './members.ts';

/** What one source states about one object: only the stated fields, canonical, references as ids. */
export type Declaration = {
  readonly source: string;
  readonly stated: JsonObject;
  readonly file: string;
  readonly line: number;
  /** Its membership is to hold what sources state and nothing else. */
  readonly exclusive?: true;
};

/** A unit whose stated value is overridden for a while; the overriding value is in the spec. */
export type Override = {
  /** The path of the unit. */
  readonly path: string;
  readonly by: { readonly id: string; readonly name: string };
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly until: string;
};

/** What a revision says about the commit of its source: the author's name and the first line of the message. */
export type CommitInfo = {
  readonly author: string;
  readonly subject: string;
};

/** By membership field: the sort keys of elements that do not stand where their id would put them. */
export type SortKeys = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** One stored instance of a kind. Frozen by agreement: a change makes a new value. */
export type StoredObject = {
  readonly id: string;
  readonly kind: string;
  readonly parent?: string;
  /** `metadata.name` in documents; objects made through the API have none until a source adopts them. */
  readonly key?: string;
  /** The display name. */
  readonly name: string;
  /** Canonical: defaults filled, sets sorted, references as ids. Memberships stand beside it; `completeSpec` is both. */
  readonly spec: JsonObject;
  /** The members with their origins, by membership field. Absent: its kind has no such field, or nobody is in it. */
  readonly members?: Readonly<Record<string, Members>>;
  /** Absent: every membership is in the order of its ids. */
  readonly sortKeys?: SortKeys;
  /** Values that the server chose, never counts, and the order in which lists were written. */
  readonly derived: JsonObject;
  /** The source that owns the life cycle. */
  readonly owner?: string;
  readonly protected: boolean;
  readonly createdRevision: number;
  readonly updatedRevision: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly declared: readonly Declaration[];
  /** Absent: none. Sorted by path. */
  readonly overrides?: readonly Override[];
  /** Keys it had before, by which documents may still name it. Absent: none. */
  readonly aliases?: readonly string[];
};

/** The id of the object from which the server derived this one, and with which it changes and goes. */
export function originOf(object: StoredObject): string | undefined {
  const origin = object.derived['derived_from'];
  return typeof origin === 'string' ? origin : undefined;
}

/** What an object has besides its content before it is committed; revisions are stamped by the plan. */
export function uncommitted(now: string) {
  return { protected: false, createdRevision: 0, updatedRevision: 0, createdAt: now, updatedAt: now, declared: [] };
}
