import type { Lease } from '../../../db/leases/leases.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { Document, ForeignFile } from '../../../model/document.ts';
import type { Problem } from '../../../model/problem.ts';
import type { ClusterSecrets, PushedValues } from '../../../model/schema/values.ts';
import type { FileRules } from '../../../model/sources/file-rules.ts';
import type { CommitInfo } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { RequestedOptions } from '../../../plan/options.ts';
import type { Locator } from './locate-problems.ts';
import type { RollbackRequest } from './rolled-back.ts';

/** A request to plan or apply the documents of a source. */
export interface ApplyRequest extends RequestedOptions, Locator {
  readonly source: string;
  readonly documents: readonly Document[];
  /** What reading found wrong; with any of these nothing is applied, but the rest is checked all the same. */
  readonly problems: readonly Problem[];
  /** Files that are none of ours, and whether they are refused, all of them; unless said otherwise as the source is set. */
  readonly foreign?: readonly ForeignFile[];
  readonly strictFiles?: boolean;
  /** By which rules the files were chosen. */
  readonly rules?: readonly FileRules[];
  /** What was applied last, and the revision it left: while nothing else changed, only the difference is planned. */
  readonly since?: { readonly documents: readonly Document[]; readonly revision: number };
  /** The approved digest of a plan with tripped guards; it allows this plan and no other. */
  readonly approve?: string;
  /** Refuses any other plan than this one. */
  readonly expectDigest?: string;
  /** Refuses to plan on any other revision than this one. */
  readonly expectBase?: number;
  readonly commitRef?: string;
  readonly commitInfo?: CommitInfo;
  readonly planId?: string;
  /** Who made that plan. */
  readonly plannedBy?: Actor;
  /** The values that were sent with pushed documents; absent for a source that the server reads. */
  readonly values?: PushedValues;
  /** The Secrets beside resources of a cluster; a plan that is stored does not keep them. */
  readonly secrets?: ClusterSecrets;
  /** Files of documents for whose objects something was made that nobody has any more: it is made again where they say so. */
  readonly lost?: ReadonlySet<string>;
  /** No caller waits for the values that are shown once: they are stored with the plan until they are read. */
  readonly keepOutputs?: boolean;
  /** Nothing is written without this lease; throws `LeaseLost`. */
  readonly lease?: Lease;
  /** It is applied by hand, which is refused while the source is suspended. */
  readonly byHand?: true;
  /** Why it is applied by hand although a server runs the source. */
  readonly override?: string;
  /** A file with a problem does not keep the others from being applied: its objects stay as they were applied last. */
  readonly holdBack?: true;
  /** An identity provider asked for it, and it is carried out when the provider asks again; there are no documents then. */
  readonly ofProvider?: true;
  /** Goes back to a former state; there are no documents then. */
  readonly rollback?: RollbackRequest;
  /** The state of an archive, for a rollback to it; absent: the history knows the revision. */
  readonly archived?: Snapshot;
}
