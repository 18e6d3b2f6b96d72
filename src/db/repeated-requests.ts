import { codeOf, constraintOf } from '../lib/error-code.ts';
import { Conflict } from '../model/errors.ts';

/** The refusal of a repetition while the answer of the earlier attempt is not stored yet. */
export const alreadyDone = 'the request was carried out already; send it again for its answer';

/** The refusal of a write that was executed already, by whichever attempt; other errors stay what they are. */
export function conflictOfRepetition(error: unknown): unknown {
  if (codeOf(error) !== '23505') return error;
  const constraint = constraintOf(error);
  if (constraint === 'revisions_plan')
    return new Conflict('stale', 'the plan was applied already; make a new one', { cause: error });
  if (constraint === 'revisions_request') return new Conflict('running', alreadyDone, { cause: error });
  if (constraint === 'tokens_pkey' || constraint === 'proxy_tokens_pkey') return valueLost('token', error);
  if (constraint === 'invites_pkey') return valueLost('invite', error);
  if (constraint === 'directory_value' || constraint === 'directory_pkey')
    return new Conflict('taken', 'a value by which an object is found already exists in another account', {
      cause: error,
    });
  return error;
}

/** What the request made is there, and what was shown of it once was lost longer ago than it is kept. */
export function valueLost(what: 'token' | 'invite', cause?: unknown): Conflict {
  return new Conflict(
    'refused',
    `the request was carried out already, and its answer with the value of the ${what} was lost; delete that ${what}, and make another one with a new Idempotency-Key`,
    { cause },
  );
}
