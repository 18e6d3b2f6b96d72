import { isObject, type Json, type JsonObject } from '../lib/json.ts';

/** An object of the Kubernetes API, with what all of them have. */
export interface Resource {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ResourceMetadata;
  readonly spec?: Json;
  readonly status?: Json;
  /** Of a Secret: base64. */
  readonly data?: Json;
  /** Of a Secret: what it is for. */
  readonly type?: string;
}

/** The metadata of an object, as far as anybody here reads it. */
export interface ResourceMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid: string }[];
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
}

/** Whether a value that the API server sent is an object of its API. */
export function isResource(value: unknown): value is Resource {
  if (!isObject(value as Json | undefined)) return false;
  const { metadata } = value as JsonObject;
  return isObject(metadata) && typeof metadata['name'] === 'string' && typeof metadata['resourceVersion'] === 'string';
}

/** Whether a version of a store is before another one; those that are no numbers are not compared. */
export function isEarlier(version: string | undefined, than: string | undefined): boolean {
  if (version === undefined || than === undefined || !isNumber(version) || !isNumber(than)) return false;
  return BigInt(version) < BigInt(than);
}

function isNumber(version: string): boolean {
  return /^\d+$/.test(version);
}

/** Names an object among those of its kind: `namespace/name`, or `name` of one that is in no namespace. */
export function nameOf({ metadata: { namespace, name } }: Resource): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
