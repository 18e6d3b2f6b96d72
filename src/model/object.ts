import type { JsonObject } from '../lib/json.ts';

/** What one source states about one object: only the stated fields, canonical, references as ids. */
export interface Declaration {
  readonly source: string;
  readonly stated: JsonObject;
  readonly file: string;
  readonly line: number;
}

/** One stored instance of a kind. Frozen by agreement: a change makes a new value. */
export interface StoredObject {
  readonly id: string;
  readonly kind: string;
  readonly parent?: string | undefined;
  /** `metadata.name` in documents; objects made through the API have none until a source adopts them. */
  readonly key?: string | undefined;
  /** The display name. */
  readonly name: string;
  /** Canonical: defaults filled, sets sorted, references as ids, membership as element to origins. */
  readonly spec: JsonObject;
  /** Values that the server chose, never counts. */
  readonly derived: JsonObject;
  /** The source that owns the life cycle. */
  readonly owner?: string | undefined;
  readonly protected: boolean;
  readonly createdRevision: number;
  readonly updatedRevision: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly declared: readonly Declaration[];
}

/** The id of the object from which the server derived this one, and with which it changes and goes. */
export function originOf(object: StoredObject): string | undefined {
  const origin = object.derived['derived_from'];
  return typeof origin === 'string' ? origin : undefined;
}
