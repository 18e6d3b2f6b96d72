import { extname } from 'node:path';
import type { Fetched } from './origin.ts';

/** Properties of a file that are known without reading it. */
export interface FileStats {
  /** Path relative to the directory, with `/` as separator. */
  readonly relative: string;
  readonly size: number;
  /** Changes whenever the file changes, except when it changes twice within one tick of the file system's clock. */
  readonly stamp: string;
  readonly changedAt: number;
}

/** Content of a directory at one moment, or the reason why it cannot be read. */
export type DirectorySnapshot =
  | (Extract<Fetched, { readonly ok: true }> & {
      /** Whether the directory is a ConfigMap mount (it has a `..data` link). All files of a mount change at once. */
      readonly isMount: boolean;
      /** Properties of the files, which were the same before and after the reading. */
      readonly looks: readonly FileStats[];
    })
  | (Extract<Fetched, { readonly ok: false }> & {
      /** Files that changed during the last attempt, when every attempt to read them failed because of changes. */
      readonly changing?: readonly string[];
    });

/** The directory cannot be read in its current state. The message contains the reason and what to do about it. */
export class Unreadable extends Error {}

const extensions = new Set(['.yaml', '.yml', '.json']);

/** Whether a file has the name of a document file. */
export function isDocumentFile(name: string): boolean {
  return extensions.has(extname(name).toLowerCase());
}
