import { codeOf, constraintOf } from '../lib/error-code.ts';
import { Conflict } from '../model/errors.ts';

/** Refusal of a repeated request while the answer of the earlier attempt is not stored yet. */
export const alreadyDoneMessage = 'the request was carried out already; send it again to get its answer';

/**
 * Returns the `Conflict` for a unique violation: some attempt executed the write already, or another account has the
 * value. Returns other errors unchanged.
 */
export function toRepetitionConflict(error: unknown): unknown {
  if (codeOf(error) !== '23505') return error;
  const constraint = constraintOf(error);
  if (constraint === 'revisions_plan')
    return new Conflict('stale', 'the plan was applied already; make a new one', { cause: error });
  if (constraint === 'revisions_request') return new Conflict('running', alreadyDoneMessage, { cause: error });
  if (constraint === 'tokens_pkey' || constraint === 'proxy_tokens_pkey') return lostValueError('token', error);
  if (constraint === 'invites_pkey') return lostValueError('invite', error);
  if (constraint === 'directory_value' || constraint === 'directory_pkey')
    return new Conflict('taken', 'a value that identifies an object already exists in another account', {
      cause: error,
    });
  return error;
}

/**
 * Returns the refusal of a repeated request whose token or invite exists, but whose answer with the value (shown once)
 * is not kept any more.
 */
export function lostValueError(what: 'token' | 'invite', cause?: unknown): Conflict {
  return new Conflict(
    'refused',
    `the request was carried out already, and its answer with the value of the ${what} was lost; delete that ${what}, and make another one with a new Idempotency-Key`,
    { cause },
  );
}
