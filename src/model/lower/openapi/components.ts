import type { JsonObject } from '../../../lib/json.ts';
import { optional } from '../../operation/fields.ts';
import { problem } from '../../operation/problem-field.ts';
import { namedSchemas } from '../../operation/schema.ts';
import { integer, json, list, object, string } from '../../schema/field.ts';
import { jsonContent as jsonBody, schemaReference } from './operation.ts';

const text = { type: 'string' };

const error = object(
  {
    message: string({ doc: 'Description of the error and what to do.' }),
    code: integer({ doc: 'The HTTP status.' }),
    problems: optional(list(problem, { doc: 'All problems of the input.' })),
    plan: optional(json(schemaReference('Plan'), { doc: 'With 428: the plan that needs an approval.' })),
    request: optional(
      string({
        doc: 'With 503 and the problem `in_doubt`: id of the request, under which the history lists the write if it happened.',
      }),
    ),
  },
  { doc: 'Body of every error response of the server.', schema: 'Error' },
);

/** Schemas of error responses and of the problems that they list. */
export const errorSchemas: JsonObject = Object.fromEntries(namedSchemas(error, 'answer'));

const meanings: Readonly<Record<number, string>> = {
  400: 'The body is not JSON or not an object, or a group is linked to other objects.',
  401: 'There are no credentials, or they are not valid.',
  403: 'The caller may not do this.',
  404: 'There is no such object.',
  409: 'The state of the account does not allow it: a name is taken, an object is in use, or a source manages a field. Or the first request with this `Idempotency-Key` is still being executed.',
  410: 'It existed but is not kept any more.',
  412: 'The object does not have the version of `If-Match`, or objects that need it must be deleted first, or a saved plan is stale.',
  413: 'The body is too large.',
  415: 'The content type is not supported.',
  422: 'The request is well-formed but invalid; `problems` lists all problems.',
  423: 'Another writer has locked the account for more than five seconds; `message` names it. Try again.',
  428: 'The plan changes so much that it needs an approval; `message` names the guard that stopped it, and `plan` shows its changes.',
  429: 'Too many requests; try again after the time in `Retry-After`.',
  503: 'The database cannot be reached, or has no space left; try again. With the problem `in_doubt` it is unknown whether the write happened: look for `request` in `GET /api/config/revisions?request=`, or send the request again with the same `Idempotency-Key`.',
};

/** Shared error responses, by HTTP status. */
export const errorResponses: JsonObject = Object.fromEntries(
  Object.entries(meanings).map(([status, description]) => [
    status,
    { description, content: jsonBody(schemaReference('Error'), { message: description, code: Number(status) }) },
  ]),
);

/** Request headers and query parameters that several operations share. */
export const sharedParameters: JsonObject = {
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'ETag of the object. The write happens only if the object still has this version.',
    schema: text,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'ETag of an earlier answer. If it is still current, the answer is 304 without a body.',
    schema: text,
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description: '`handling=strict`: unknown members of the body and unknown query parameters are refused with 422.',
    schema: text,
  },
  // The component must not have the name of a schema, because generated clients put parameters and schemas in one
  // namespace.
  InAccount: {
    name: 'account',
    in: 'query',
    required: false,
    description:
      'Id of a tenant account in which to act, with the role that the groups of the tenant give to the caller; 403 when they give none.',
    schema: text,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Key of the request, such as a UUID. A repetition by the same caller within a day, with the same key, address and body, is not executed again and gets the first answer, including values that are shown once, as long as the caller may see them. An answer with such values is kept for a week, after the first day without them. The same key in another request is refused with 422, and with 409 while the first request is still being executed. After an answer that asks to try again (401, 403, 423, 428, 429, 5xx) the request is executed again, unless it turns out to have been carried out.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
  Limit: {
    name: 'limit',
    in: 'query',
    required: false,
    description:
      'Maximum number of objects, in the order of ids. Absent: all. `Link` contains the address of the next page.',
    schema: { type: 'integer', minimum: 1, maximum: 1000 },
  },
  After: {
    name: 'after',
    in: 'query',
    required: false,
    description: 'Only objects after the one with this id, which may have been deleted since.',
    schema: text,
  },
  HeddleProof: {
    name: 'Heddle-Proof',
    in: 'header',
    required: true,
    description:
      '`key=…, time=…, nonce=…, signature=…`: the public Ed25519 key of the peer, the time, 16 random bytes that were never used before, and the signature over the lines `heddle-agent-v1`, `request`, method, path with query, key, time, nonce and the SHA-256 of the body. All values except the time are in base64url. The clock may differ by up to one minute.',
    schema: text,
  },
  BreakGlass: {
    name: 'X-Break-Glass',
    in: 'header',
    required: false,
    description:
      'Reason for an override: changes to values that sources state are then made instead of refused. The stated values return automatically after a while.',
    schema: text,
  },
  BreakGlassTTL: {
    name: 'X-Break-Glass-TTL',
    in: 'header',
    required: false,
    description: 'Duration of the override, such as `30m`. Default: 4 hours; maximum: 24 hours.',
    schema: text,
  },
};

/** Response headers that several operations share. */
export const sharedHeaders: JsonObject = {
  ETag: { description: 'The version and a hash of the body, for `If-Match` and `If-None-Match`.', schema: text },
  Link: {
    description: 'Address of the next page, as `<address>; rel="next"`. Absent without `limit`, and on the last page.',
    schema: text,
  },
  'Idempotency-Replayed': {
    description: '`true`: the request was executed before, and this is its result.',
    schema: text,
  },
  'Heddle-Notice': { description: 'Note for the caller, for example that no mail was sent.', schema: text },
  'Heddle-Invite-Link': { description: 'Invite link to hand over when no mail was sent.', schema: text },
  'Heddle-Ignored': {
    description:
      'Unknown input that was ignored: JSON pointers of members of the body, and `?name` for query parameters.',
    schema: text,
  },
};

/** The ways to send a credential. */
export const securitySchemes: JsonObject = {
  Token: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'A personal access token: `Token <PERSONAL_ACCESS_TOKEN>`.',
  },
  Bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token of the identity provider, or a personal access token.',
  },
  Operator: {
    type: 'http',
    scheme: 'bearer',
    description:
      "The operator's token of the server, from the file `operator-token` of its data directory or HEDDLE_OPERATOR_TOKEN. It gives access to no account.",
  },
};
