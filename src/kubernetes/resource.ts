import { isObject, type Json, type JsonObject } from '../lib/json.ts';

/** An object of the Kubernetes API, with the members that all kinds have. */
export interface Resource {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ResourceMetadata;
  readonly spec?: Json;
  readonly status?: Json;
  /** Of a Secret: base64 values by name. */
  readonly data?: Json;
  /** Of a Secret: its type. */
  readonly type?: string;
}

/** Metadata of an object: the members that this server reads. */
export interface ResourceMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid: string }[];
  /** Time of creation, in RFC 3339. */
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
}

/** Whether a value that the API server sent is an object of its API. */
export function isResource(value: unknown): value is Resource {
  if (!isObject(value as Json | undefined)) return false;
  const { metadata } = value as JsonObject;
  return isObject(metadata) && typeof metadata['name'] === 'string' && typeof metadata['resourceVersion'] === 'string';
}

/** Whether a version of a store is earlier than another version. False when one of them is not a number. */
export function isEarlier(version: string | undefined, than: string | undefined): boolean {
  if (version === undefined || than === undefined || !isNumber(version) || !isNumber(than)) return false;
  return BigInt(version) < BigInt(than);
}

function isNumber(version: string): boolean {
  return /^\d+$/.test(version);
}

/**
 * Returns the name of an object among those of its kind: `namespace/name`, or `name` for an object without a namespace.
 */
export function nameOf({ metadata: { namespace, name } }: Resource): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
