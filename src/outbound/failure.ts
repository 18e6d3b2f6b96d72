/** Outcome of a request to another host, as metrics count it. */
export type OutboundOutcome =
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
  readonly outcome: Exclude<OutboundOutcome, 'ok'>;

  constructor(outcome: Exclude<OutboundOutcome, 'ok'>, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutboundFailure';
    this.outcome = outcome;
  }
}
