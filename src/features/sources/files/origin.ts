import type { SourceFile } from '../../../model/document.ts';
import type { Problem } from '../../../model/problem.ts';
import type { ClusterSecrets } from '../../../model/schema/values.ts';
import type { CommitInfo } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { HeldBack } from '../../../plan/plan.ts';
import type { FileSelection } from './selection.ts';

/** What a source holds at one moment, or why that cannot be said; a source that cannot be read is never an empty one. */
export type Fetched =
  | {
      readonly ok: true;
      readonly files: readonly SourceFile[];
      /** Of the files' places and contents and the rules by which they were chosen; line ends and a byte order mark do not count. */
      readonly digest: string;
      /** The rules by which files were chosen. */
      readonly selection: FileSelection;
      readonly warnings: readonly string[];
      /** The commit, where there are commits. */
      readonly commit?: string;
      /** Who wrote the commit and what its first line says. */
      readonly commitInfo?: CommitInfo;
      /** Ids of what holds the files, where something else may come to have its name. */
      readonly uids?: string;
      /** How far what holds the files had come, where that is counted. */
      readonly version?: string;
      /** What is wrong with some of the files beside what they say. */
      readonly problems?: readonly Problem[];
      /** Files for whose objects something was made that is lost. */
      readonly lost?: ReadonlySet<string>;
      /** The Secrets beside the files, where they are resources of a cluster; no part of the digest. */
      readonly secrets?: ClusterSecrets;
    }
  | {
      readonly ok: false;
      readonly reason: string;
      /** What is to be known from now on in place of the version that was applied last. */
      readonly version?: string;
    };

/** How a reconcile of what was fetched ended. */
export type OriginOutcome =
  | { readonly what: 'applied'; readonly state: Snapshot; readonly heldBack: readonly HeldBack[] }
  | {
      readonly what: 'waiting';
      readonly state: Snapshot;
      readonly heldBack: readonly HeldBack[];
      /** The plan that waits for an approval. */
      readonly planId: string;
      readonly message: string;
    }
  | { readonly what: 'refused'; readonly state: Snapshot; readonly problems: readonly Problem[] };

/** Where the documents of a source come from. */
export interface Origin {
  /** Reads what is there now; `last` is what was applied last. */
  fetch(last?: {
    readonly commit?: string | undefined;
    readonly uids?: string | undefined;
    readonly version?: string | undefined;
  }): Promise<Fetched>;
  /** Reads what is there now for another purpose: it does not count as fetched. */
  peek(): Promise<Fetched>;
  /** Takes notice of how the reconcile of what was fetched last ended, to say so where the documents are. */
  concluded?(outcome: OriginOutcome): Promise<void>;
  /** What was fetched would end as it did last time, and is not applied again. */
  unchanged?(state: Snapshot): Promise<void>;
  /** Calls `changed` when something else may be there than was fetched last. Returns a function that ends it. */
  watch(changed: () => void): () => Promise<void>;
}
