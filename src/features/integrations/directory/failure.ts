/**
 * Meaning of a failed request to a directory.
 * - `away`: the failure passes by itself.
 * - `refused`: the failure stays until a person changes something.
 * - `expired`: the directory does not know the link any more, so everything is read again.
 */
export type DirectoryOutcome = 'away' | 'refused' | 'expired';

/** Failure of a request to a directory. The message is shown to users, and contains no secret and no link. */
export class DirectoryFailure extends Error {
  readonly outcome: DirectoryOutcome;
  /** Time that the directory asks to wait, in milliseconds. */
  readonly afterMs: number | undefined;

  constructor(outcome: DirectoryOutcome, message: string, options: ErrorOptions & { readonly afterMs?: number } = {}) {
    const { afterMs, ...others } = options;
    super(message, others);
    this.name = 'DirectoryFailure';
    this.outcome = outcome;
    this.afterMs = afterMs;
  }
}
