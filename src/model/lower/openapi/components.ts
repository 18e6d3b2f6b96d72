import type { JsonObject } from '../../../lib/json.ts';
import { optional } from '../../operation/fields.ts';
import { problem } from '../../operation/problem-field.ts';
import { namedSchemas } from '../../operation/schema.ts';
import { integer, json, list, object, string } from '../../schema/field.ts';
import { json as jsonBody, named } from './operation.ts';

const text = { type: 'string' };

const error = object(
  {
    message: string({ doc: 'What is wrong, and the way out.' }),
    code: integer({ doc: 'The HTTP status.' }),
    problems: optional(list(problem, { doc: 'All that is wrong with the input.' })),
    plan: optional(json(named('Plan'), { doc: 'With 428: the plan that wants an approval.' })),
    request: optional(
      string({
        doc: 'With 503 and the problem `in_doubt`: the request by which the history has the write, if it happened.',
      }),
    ),
  },
  { doc: 'Every refusal of the server has this shape.', schema: 'Error' },
);

/** Schemas of error responses and of the problems that they list. */
export const errorSchemas: JsonObject = Object.fromEntries(namedSchemas(error, 'answer'));

const meanings: Readonly<Record<number, string>> = {
  400: 'The body is not JSON or not an object, or a group is linked to something else.',
  401: 'There are no credentials, or they are not valid.',
  403: 'The caller may not do this.',
  404: 'There is no such object.',
  409: 'The state of the account forbids it: a taken name, an object in use, a field that a source manages; or the first request of this `Idempotency-Key` is being carried out.',
  410: 'It was there once and is not kept any more.',
  412: 'The object is not at the version of `If-Match`, or what it is needed for has to go first; a saved plan is stale.',
  413: 'The body is too large.',
  415: 'The content type is not supported.',
  422: 'The request is well-formed but wrong; `problems` lists all that is.',
  423: 'Another writer holds the account for more than five seconds; `message` says which. Try again.',
  428: 'The plan changes so much that it wants an approval; `message` says which guard stopped it, and `plan` what it would do.',
  429: 'Too many requests; try again after the time in `Retry-After`.',
  503: 'The database cannot be reached, or has no room left; try again. With the problem `in_doubt` nobody can know whether the write happened: look for `request` in `GET /api/config/revisions?request=`, or send it again with the same `Idempotency-Key`.',
};

/** Shared error responses, by HTTP status. */
export const errorResponses: JsonObject = Object.fromEntries(
  Object.entries(meanings).map(([status, description]) => [
    status,
    { description, content: jsonBody(named('Error'), { message: description, code: Number(status) }) },
  ]),
);

/** Request headers and query parameters that several operations share. */
export const sharedParameters: JsonObject = {
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'An ETag: the write happens only while the object still has its version.',
    schema: text,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'An ETag: the answer is 304 without a body while it still holds.',
    schema: text,
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description:
      '`handling=strict` turns members of the body and parameters of the query that nothing knows into a 422.',
    schema: text,
  },
  // The component must not have the name of a schema, because generated clients put parameters and schemas in one
  // namespace.
  InAccount: {
    name: 'account',
    in: 'query',
    required: false,
    description: 'The id of the account of a tenant, to act there with the role that its groups give; otherwise 403.',
    schema: text,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A name for the request, such as a UUID. Sent again with the same name within a day, it is not carried out again but answered as the first time; values that are shown once are absent from that answer. Answers that say to come again (401, 403, 423, 428, 429, 5xx) do not count.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  Limit: {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'At most so many, in the order of ids; absent: all. `Link` says where the rest is.',
    schema: { type: 'integer', minimum: 1, maximum: 1000 },
  },
  After: {
    name: 'after',
    in: 'query',
    required: false,
    description: 'Only those behind the one with this id; it may be gone since.',
    schema: text,
  },
  HeddleProof: {
    name: 'Heddle-Proof',
    in: 'header',
    required: true,
    description:
      '`key=…, time=…, nonce=…, signature=…`: the public Ed25519 key of the peer, the time, 16 random bytes that were never used before, and the signature of the lines `heddle-agent-v1`, `request`, method, path with query, key, time, nonce and the SHA-256 of the body; everything but the time in base64url. The clock may be off by a minute.',
    schema: text,
  },
  BreakGlass: {
    name: 'X-Break-Glass',
    in: 'header',
    required: false,
    description:
      'Why. Values that sources state are then set aside for a while instead of being refused; they come back by themselves.',
    schema: text,
  },
  BreakGlassTTL: {
    name: 'X-Break-Glass-TTL',
    in: 'header',
    required: false,
    description: 'How long, such as `30m`; 4 hours unless said otherwise, 24 at most.',
    schema: text,
  },
};

/** Response headers that several operations share. */
export const sharedHeaders: JsonObject = {
  ETag: { description: 'The version and a hash of the body, for `If-Match` and `If-None-Match`.', schema: text },
  Link: {
    description: 'With `limit`, when there is more: the address of the next page, as `<address>; rel="next"`.',
    schema: text,
  },
  'Idempotency-Replayed': {
    description: '`true`: the request was carried out before, and this is what became of it.',
    schema: text,
  },
  'Heddle-Notice': { description: 'What the caller should know, such as that no mail was sent.', schema: text },
  'Heddle-Invite-Link': { description: 'The link to hand over, when no mail was sent.', schema: text },
  'Heddle-Ignored': {
    description: 'What nothing knows: JSON pointers of members of the body, and `?name` for parameters of the query.',
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
      "The operator's token of the server, from the file `operator-token` of its data directory or HEDDLE_OPERATOR_TOKEN. It opens no account.",
  },
};
