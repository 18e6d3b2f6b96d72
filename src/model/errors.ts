import { type Problem, shortProblem } from './problem.ts';
import { shortMessage } from './quote.ts';

/**
 * The exceptions of the program. Wrong input is data (`Problem`); these end a request or a command.
 * `api/errors.ts` maps them to statuses, `cli/exit.ts` to exit codes.
 */
export abstract class HeddleError extends Error {
  readonly problems: readonly Problem[];

  constructor(message: string, options: { readonly problems?: readonly Problem[]; readonly cause?: unknown } = {}) {
    super(shortMessage(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.problems = (options.problems ?? []).map(shortProblem);
    this.name = new.target.name;
  }
}

/** The thing addressed does not exist, or not for this caller. The message contains `not found`. */
export class NotFound extends HeddleError {}

/** What reasons a `Conflict` can have; the edge gives each its status. */
export type ConflictReason =
  | ('taken' | 'in_use' | 'linked' | 'managed_field' | 'stale' | 'precondition' | 'gone')
  /** It is not to be done in this state: approving a plan that was applied. */
  | 'refused'
  /** The same request is being carried out, or was, and its answer is not there yet. */
  | 'running'
  /** Another writer holds the account. */
  | 'locked';

/** The state of the account forbids it: a taken name, an object in use, a managed field, a stale plan, what was there once. */
export class Conflict extends HeddleError {
  readonly reason: ConflictReason;

  constructor(
    reason: ConflictReason,
    message: string,
    options: { readonly problems?: readonly Problem[]; readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.reason = reason;
  }
}

/** The caller is known and may not do this. */
export class NotAllowed extends HeddleError {}

/** No credentials, or bad ones. */
export class Unauthenticated extends HeddleError {}

/** The input is wrong; `problems` says all that is wrong with it. */
export class InvalidInput extends HeddleError {}

/** A guard tripped: the plan needs an approval. */
export class UnsafePlan extends HeddleError {}

/** The store cannot be reached. With `inDoubt`, a write may have happened or not. */
export class Unavailable extends HeddleError {
  readonly inDoubt: boolean;
  /** The id under which a write in doubt is found in the history, if it happened. */
  readonly requestId: string | undefined;
  /**
   * Ends the session that may still carry a write in doubt out, and resolves once it cannot any more: from then on the
   * store shows whether the write happened. Throws `Unavailable` while that is open.
   */
  readonly endAttempt: (() => Promise<void>) | undefined;

  constructor(
    message: string,
    options: {
      readonly problems?: readonly Problem[];
      readonly cause?: unknown;
      readonly inDoubt?: boolean;
      readonly requestId?: string;
      readonly endAttempt?: () => Promise<void>;
    } = {},
  ) {
    super(message, options);
    this.inDoubt = options.inDoubt ?? false;
    this.requestId = options.requestId;
    this.endAttempt = options.endAttempt;
  }
}

/** A defect of the program. */
export class Internal extends HeddleError {}
