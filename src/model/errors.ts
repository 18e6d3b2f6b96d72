import { type Problem, shortenProblem } from './problem.ts';
import { shortenMessage, shortenMissing } from './quote.ts';

/**
 * Base class of the program's exceptions. Invalid input is reported as data (`Problem`); exceptions end a request or a
 * command. `api/errors.ts` maps them to HTTP statuses, `cli/exit.ts` to exit codes.
 */
export abstract class HeddleError extends Error {
  readonly problems: readonly Problem[];

  constructor(message: string, options: { readonly problems?: readonly Problem[]; readonly cause?: unknown } = {}) {
    super(shortenMessage(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.problems = (options.problems ?? []).map(shortenProblem);
    this.name = new.target.name;
  }
}

/** The requested thing does not exist, or this caller may not see it. The message contains `not found`. */
export class NotFound extends HeddleError {
  constructor(message: string, options: { readonly problems?: readonly Problem[]; readonly cause?: unknown } = {}) {
    super(shortenMissing(message), options);
  }
}

/** Reasons of a `Conflict`. The API maps each to an HTTP status. */
export type ConflictReason =
  | ('taken' | 'in_use' | 'linked' | 'managed_field' | 'stale' | 'precondition' | 'gone')
  /** The action is not possible in the current state, such as approving a plan that was applied. */
  | 'refused'
  /** The same request is running, or was executed but its answer is not stored yet. */
  | 'running'
  /** Another writer has locked the account. */
  | 'locked';

/**
 * The state of the account forbids the action: a taken name, an object in use, a managed field, a stale plan, a thing
 * that is gone.
 */
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

/** The caller is authenticated but may not do this. */
export class NotAllowed extends HeddleError {}

/** Credentials are missing or invalid. */
export class Unauthenticated extends HeddleError {}

/** The input is invalid. `problems` lists everything that is wrong with it. */
export class InvalidInput extends HeddleError {}

/** A guard stopped the plan, which needs an approval. */
export class UnsafePlan extends HeddleError {}

/** The database cannot be reached. With `inDoubt`, a write may or may not have happened. */
export class Unavailable extends HeddleError {
  readonly inDoubt: boolean;
  /** Id by which the history shows a write in doubt, if it happened. */
  readonly requestId: string | undefined;
  /**
   * Ends the database session that may still execute a write in doubt. Resolves when the write can no longer happen;
   * the database then shows whether it did. Throws `Unavailable` while that is unknown.
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

/** A bug in the program. */
export class Internal extends HeddleError {}
