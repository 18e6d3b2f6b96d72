import type { Fetched } from './origin.ts';

/** What a directory holds at one moment, or why that cannot be said. */
export type DirectorySnapshot =
  | (Extract<Fetched, { readonly ok: true }> & {
      /** Whether it is a ConfigMap mount (it has a `..data` link). */
      readonly isMount: boolean;
    })
  | Extract<Fetched, { readonly ok: false }>;

/** The directory cannot be read as it is; the message says why and what to do. */
export class Unreadable extends Error {}
