import type { Lease } from '../../../db/leases/leases.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { Document, ForeignFile } from '../../../model/document.ts';
import type { Problem } from '../../../model/problem.ts';
import type { ClusterSecrets, PushedValues } from '../../../model/schema/values.ts';
import type { FileRules } from '../../../model/sources/file-rules.ts';
import type { CommitInfo } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { RequestedOptions } from '../../../plan/options.ts';
import type { ProblemLocator } from './locate-problems.ts';
import type { RollbackRequest } from './rolled-back.ts';

/** A request to plan or apply the documents of a source. */
export interface ApplyRequest extends RequestedOptions, ProblemLocator {
  readonly source: string;
  readonly documents: readonly Document[];
  /**
   * Problems found while reading the documents. With any of them nothing is applied, but the other documents are
   * checked all the same.
   */
  readonly problems: readonly Problem[];
  /**
   * Files with content of other programs. `strictFiles` refuses all of them; otherwise the setting of the source
   * decides.
   */
  readonly foreign?: readonly ForeignFile[];
  readonly strictFiles?: boolean;
  /** Rules by which the files were chosen. */
  readonly rules?: readonly FileRules[];
  /**
   * Documents that were applied last, and the account's revision after that. While the account is still at this
   * revision, only the difference is planned.
   */
  readonly since?: { readonly documents: readonly Document[]; readonly revision: number };
  /** Approved digest of a plan with tripped guards. It allows only this plan. */
  readonly approve?: string;
  /** Digest of the only plan that is accepted. */
  readonly expectDigest?: string;
  /** The only revision on which planning is accepted. */
  readonly expectBase?: number;
  readonly commitRef?: string;
  readonly commitInfo?: CommitInfo;
  readonly planId?: string;
  /** Author of the plan `planId`. */
  readonly plannedBy?: Actor;
  /** Values that were sent with pushed documents. Absent for a source that the server reads. */
  readonly values?: PushedValues;
  /** Secrets next to the resources of a cluster. A stored plan does not keep them. */
  readonly secrets?: ClusterSecrets;
  /**
   * Files of documents for whose objects the server generated a value that was lost. The value is generated again if
   * the document asks for that.
   */
  readonly lost?: ReadonlySet<string>;
  /**
   * Whether values that are shown once are stored with the plan until they are read, because no caller waits for them.
   */
  readonly keepOutputs?: boolean;
  /** Lease without which nothing is written: losing it throws `LeaseLost`. */
  readonly lease?: Lease;
  /** Set when the request is applied by hand, which is refused while the source is suspended. */
  readonly isManualApply?: true;
  /** Reason for applying by hand although a server runs the source. */
  readonly override?: string;
  /**
   * Set when a file with a problem does not keep the other files from being applied. Its objects stay as they were
   * applied last.
   */
  readonly holdBack?: true;
  /**
   * Set for the request of an identity provider, which is carried out when the provider repeats it. It has no
   * documents.
   */
  readonly ofProvider?: true;
  /** Rollback to a former state. The request has no documents then. */
  readonly rollback?: RollbackRequest;
  /** State of an archive to roll back to. Absent: the state comes from the history. */
  readonly archived?: Snapshot;
}
