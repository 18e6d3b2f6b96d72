/** Outcome of a request to another host, as metrics count it. */
export type Outcome =
  | 'ok'
  | 'refused'
  | 'unresolved'
  | 'unreachable'
  | 'timeout'
  | 'redirected'
  | 'too_large'
  | 'failed';

/** A request to another host that failed. The message names the host, and never a path, a header or a secret. */
export class OutboundFailure extends Error {
  readonly outcome: Exclude<Outcome, 'ok'>;

  constructor(outcome: Exclude<Outcome, 'ok'>, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutboundFailure';
    this.outcome = outcome;
  }
}
