import type { Json } from '../lib/json.ts';
import type { Problem } from './problem.ts';

/** The only `apiVersion` that documents may have. Must match exactly. */
export const apiVersion = 'heddle.dev/v1';

/**
 * Position of a document. `pointer` is the JSON pointer inside its YAML document (`/items/3` in a `kind: List`, else
 * empty).
 */
export interface DocumentPosition {
  /** Path as the source names it; `-` for a request body. */
  readonly file: string;
  /** Line of the document's first line of content, counted from 1. */
  readonly line: number;
  /** Index of the YAML document in the file, from 0. */
  readonly index: number;
  readonly pointer: string;
}

export interface Metadata {
  readonly name: string;
  /** From `previousNames`, or from the annotation with the same meaning. */
  readonly previousNames?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** Only annotations that start with `heddle.dev/`. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Members that Kubernetes adds to a resource. They are accepted and ignored, so that the output of `kubectl get -o
 * yaml` is a valid document.
 */
export const ignoredMembers = ['status'] as const;

/** The same for members of `metadata`. */
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

/** Former keys of the object, separated by commas. Replaces `previousNames` where only annotations are kept. */
export const previousNamesAnnotation = `${annotationPrefix}previous-names`;

/** Checks whether an annotation is meant for Heddle. Other annotations may have any value. */
export function isOwnAnnotation(name: string): boolean {
  return name.startsWith(annotationPrefix);
}

/** What a source states about one object. The envelope is checked, `spec` is not checked yet. */
export interface Document {
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Readonly<Record<string, Json>>;
  readonly position: DocumentPosition;
  /**
   * Line numbers of list entries in the spec, by member, because inline children begin there. Absent when the text has
   * no lines.
   */
  readonly entryLines?: Readonly<Record<string, readonly number[]>>;
}

/** Content of a text that is not meant for Heddle, such as objects of other API groups. */
export interface ForeignContent {
  /** Description of the content, as the end of a sentence. */
  readonly holds: string;
  /** Kinds in the content that have no API group. */
  readonly kinds: readonly string[];
  /** Problems of the content when it is read as documents. */
  readonly problems: readonly Problem[];
  /** The foreign objects, when the text also contains documents of Heddle. Absent: the whole text is foreign. */
  readonly objects?: readonly { readonly kind: string; readonly name: string; readonly line: number }[];
}

/** A file of a source with foreign content. */
export interface ForeignFile extends ForeignContent {
  readonly file: string;
}

/** One file of a source revision. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}
