/**
 * What it means that the directory did not give what it was asked for. `away`: it passes by itself. `refused`: it stays so
 * until people change something. `expired`: the link is not known any more, and everything is read again.
 */
export type DirectoryOutcome = 'away' | 'refused' | 'expired';

/** A directory did not give what it was asked for. The message is for people, and contains no secret and no link. */
export class DirectoryFailure extends Error {
  readonly outcome: DirectoryOutcome;
  /** How long it asks to be left alone, in milliseconds. */
  readonly afterMs: number | undefined;

  constructor(outcome: DirectoryOutcome, message: string, options: ErrorOptions & { readonly afterMs?: number } = {}) {
    const { afterMs, ...others } = options;
    super(message, others);
    this.name = 'DirectoryFailure';
    this.outcome = outcome;
    this.afterMs = afterMs;
  }
}
