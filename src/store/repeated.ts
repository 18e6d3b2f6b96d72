import { Conflict } from '../model/errors.ts';

/** What was carried out already cannot be written again, whoever did it in the meantime; other errors stay what they are. */
export function repeated(error: unknown): unknown {
  // Both drivers name the index that refused.
  const { code, constraint } = error as { readonly code?: unknown; readonly constraint?: unknown };
  if (code !== '23505') return error;
  if (constraint === 'revisions_plan')
    return new Conflict('stale', 'the plan was applied already; make a new one', { cause: error });
  if (constraint === 'revisions_request')
    return new Conflict('running', 'the request was carried out already; send it again for its answer', {
      cause: error,
    });
  if (constraint === 'tokens_pkey' || constraint === 'proxy_tokens_pkey')
    return new Conflict(
      'refused',
      'the request was carried out already, and its answer with the value of the token was lost; delete that token, and make another one with a new Idempotency-Key',
      { cause: error },
    );
  if (constraint === 'directory_value' || constraint === 'directory_pkey')
    return new Conflict('taken', 'a value by which an object is found already exists in another account', {
      cause: error,
    });
  return error;
}
