import type { Json } from '../lib/json.ts';
import type { Problem } from './problem.ts';

/** The only `apiVersion` that documents may carry: exact match, no guessing. */
export const apiVersion = 'heddle.dev/v1';

/** Where a document begins. `pointer` is the JSON pointer inside its YAML document (`/items/3` in a `kind: List`, else empty). */
export interface Place {
  /** Path as the source names it, `-` for a bare request body. */
  readonly file: string;
  /** 1-based line of the document's first line of content. */
  readonly line: number;
  /** Which YAML document of the file, from 0. */
  readonly index: number;
  readonly pointer: string;
}

export interface Metadata {
  readonly name: string;
  /** From `previousNames`, or from the annotation that says the same. */
  readonly previousNames?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** Only our own. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * What Kubernetes puts into a resource: accepted without a meaning, so that what `kubectl get -o yaml` prints is a document
 * and one file serves both.
 */
export const ignoredMembers = ['status'] as const;

/** The same of `metadata`. */
export const ignoredMetadata = [
  'namespace',
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

const annotationPrefix = 'heddle.dev/';

/** The keys that an object had before, with commas between them: what `previousNames` says where only annotations are kept. */
export const previousNamesAnnotation = `${annotationPrefix}previous-names`;

/** Whether an annotation is addressed to us; those of others may say anything. */
export function isOwnAnnotation(name: string): boolean {
  return name.startsWith(annotationPrefix);
}

/** One YAML object: what a source states about one object. The envelope is checked; `spec` is not yet. */
export interface Document {
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Readonly<Record<string, Json>>;
  readonly place: Place;
  /** Lines of the entries of lists in the spec, by member, where the text has lines: inline children begin there. */
  readonly entryLines?: Readonly<Record<string, readonly number[]>>;
}

/** What a text holds that others read, and none of ours. */
export interface Foreign {
  /** What it holds, as the end of a sentence. */
  readonly holds: string;
  /** Kinds that it names without a group of their own. */
  readonly kinds: readonly string[];
  /** What is wrong with it as documents. */
  readonly problems: readonly Problem[];
  /** Where it stands beside documents of ours; absent: the text holds nothing else. */
  readonly objects?: readonly { readonly kind: string; readonly name: string; readonly line: number }[];
}

/** A file of a source that holds such. */
export interface ForeignFile extends Foreign {
  readonly file: string;
}

/** One file of a source revision. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}
