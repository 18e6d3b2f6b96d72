import type { SourceFile } from '../../../model/document.ts';
import type { Problem } from '../../../model/problem.ts';
import type { ClusterSecrets } from '../../../model/schema/values.ts';
import type { CommitInfo } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { HeldBackFile } from '../../../plan/plan.ts';
import type { FileSelection } from './selection.ts';

/**
 * Content of a source at one moment, or the reason why it cannot be read. A source that cannot be read never counts as
 * empty.
 */
export type Fetched =
  | {
      readonly ok: true;
      readonly files: readonly SourceFile[];
      /**
       * Digest of the paths and contents of the files and of the rules that chose them. Line ends and a byte order mark
       * do not affect it.
       */
      readonly digest: string;
      /** Rules by which the files were chosen. */
      readonly selection: FileSelection;
      readonly warnings: readonly string[];
      /** Id of the commit. Absent for sources without commits. */
      readonly commit?: string;
      /** Author of the commit, and the first line of its message. */
      readonly commitInfo?: CommitInfo;
      /**
       * Ids of what contains the files (a namespace and its definitions), because something else may get the same name
       * later.
       */
      readonly uids?: string;
      /** Version of the store that contains the files, if the store has versions. */
      readonly version?: string;
      /** Problems of some of the files that are not problems of their content. */
      readonly problems?: readonly Problem[];
      /** Files whose objects have generated values that are lost. */
      readonly lost?: ReadonlySet<string>;
      /** Secrets next to the files, when the files are resources of a cluster. Not part of the digest. */
      readonly secrets?: ClusterSecrets;
    }
  | {
      readonly ok: false;
      readonly reason: string;
      /** Version to record instead of the version that was applied last. */
      readonly version?: string;
    };

/** Result of the reconcile of what was fetched. */
export type OriginOutcome =
  | { readonly what: 'applied'; readonly state: Snapshot; readonly heldBack: readonly HeldBackFile[] }
  | {
      readonly what: 'waiting';
      readonly state: Snapshot;
      readonly heldBack: readonly HeldBackFile[];
      /** Id of the plan that waits for an approval. */
      readonly planId: string;
      readonly message: string;
    }
  | { readonly what: 'refused'; readonly state: Snapshot; readonly problems: readonly Problem[] };

/** Where the documents of a source are read, such as a directory or a Git repository. */
export interface Origin {
  /** Reads the current content. `last` is what was applied last. */
  fetch(last?: {
    readonly commit?: string | undefined;
    readonly uids?: string | undefined;
    readonly version?: string | undefined;
  }): Promise<Fetched>;
  /** Reads the current content for another purpose. It does not count as fetched. */
  peek(): Promise<Fetched>;
  /** Called with the result of the reconcile of the last fetch, to report it where the documents are. */
  concluded?(outcome: OriginOutcome): Promise<void>;
  /** Called when the fetched content is not applied again, because the result would be the same as last time. */
  unchanged?(state: Snapshot): Promise<void>;
  /** Calls `changed` when the content may differ from the last fetch. Returns a function that stops watching. */
  watch(changed: () => void): () => Promise<void>;
}
