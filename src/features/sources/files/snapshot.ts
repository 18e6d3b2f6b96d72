import { extname } from 'node:path';
import type { Fetched } from './origin.ts';

/** What is known of a file without reading it. */
export interface FileLook {
  /** Its path relative to the directory, with `/`. */
  readonly relative: string;
  readonly size: number;
  /** Changes whenever the file does, but for changes within one tick of the file system's clock. */
  readonly stamp: string;
  readonly changedAt: number;
}

/** What a directory holds at one moment, or why that cannot be said. */
export type DirectorySnapshot =
  | (Extract<Fetched, { readonly ok: true }> & {
      /** Whether it is a ConfigMap mount (it has a `..data` link), all of whose files change at once. */
      readonly isMount: boolean;
      /** The files as they were before the reading and after it. */
      readonly looks: readonly FileLook[];
    })
  | (Extract<Fetched, { readonly ok: false }> & {
      /** The files that changed each time while they were read. */
      readonly changing?: readonly string[];
    });

/** The directory cannot be read as it is; the message says why and what to do. */
export class Unreadable extends Error {}

const extensions = new Set(['.yaml', '.yml', '.json']);

/** Whether a file's name says that it holds documents. */
export function isDocumentFile(name: string): boolean {
  return extensions.has(extname(name).toLowerCase());
}
