import type { SourceFile } from '../model/document.ts';

/** What a directory holds at one moment, or why that cannot be said; a directory that cannot be read is never an empty one. */
export type DirectorySnapshot =
  | {
      readonly ok: true;
      readonly files: readonly SourceFile[];
      /** Of the files' places and contents; line ends and a byte order mark do not count. */
      readonly digest: string;
      readonly warnings: readonly string[];
      /** Whether it is a ConfigMap mount (it has a `..data` link). */
      readonly isMount: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/** The directory cannot be read as it is; the message says why and what to do. */
export class Unreadable extends Error {}
