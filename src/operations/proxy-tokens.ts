import { count, label, optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { list, object, string } from '../model/schema/field.ts';

const path = '/api/reverse-proxies/proxy-tokens';

const fields = {
  id: string({ doc: 'The id of the token.' }),
  name: string({ doc: 'Name of the token.' }),
  created_by: string({ doc: 'The id of the user who made it.' }),
  created_at: time({ doc: 'When it was made.' }),
  expires_at: optional(time({ doc: 'When it expires; absent when it does not expire.' })),
  last_used: optional(time({ doc: 'When a proxy last registered with it; absent when none did.' })),
};

const token = object(fields, { doc: 'A token with which reverse proxies authenticate.', schema: 'ProxyToken' });

const created = object(
  { ...fields, plain_token: string({ doc: 'The value, shown only once.' }) },
  { doc: 'A new token with which reverse proxies authenticate.', schema: 'CreatedProxyToken' },
);

const example = {
  id: 'ch8i4ug6lnn4g9hqv9a0',
  name: 'Proxies in Bern',
  created_by: 'ch8i4ug6lnn4g9hqv7p0',
  created_at: '2026-12-02T00:00:00.000Z',
};

const tenYears = 10 * 365 * 86_400;

/** Operations on the tokens with which the account's own reverse proxies authenticate. */
export const proxyTokens = {
  list: defineOperation({
    id: 'listProxyTokens',
    method: 'GET',
    path,
    access: { module: 'services', operation: 'read' },
    summary: 'List the tokens of reverse proxies',
    answer: list(token, { doc: '' }),
    example: { answer: [example] },
  }),
  create: defineOperation({
    id: 'createProxyToken',
    method: 'POST',
    path,
    access: { module: 'services', operation: 'create' },
    summary: 'Make a token for reverse proxies',
    doc: 'Any number of proxies of one cluster may use it. The first proxy binds it to its cluster; when that cluster is deleted, the token becomes invalid.',
    body: {
      name: label({ doc: 'Name of the token.' }),
      expires_in: count({
        doc: 'Lifetime in seconds; 0: it does not expire.',
        default: 0,
        maximum: tenYears,
      }),
    },
    answer: created,
    shownOnce: 'plain_token',
    example: {
      body: { name: 'Proxies in Bern', expires_in: 0 },
      answer: { ...example, plain_token: 'nbx_…' },
    },
  }),
  delete: defineOperation({
    id: 'deleteProxyToken',
    method: 'DELETE',
    path: `${path}/{tokenId}`,
    access: { module: 'services', operation: 'delete' },
    summary: 'Delete a token of reverse proxies',
    doc: 'It stops working at once.',
    params: { tokenId: string({ doc: 'The id of the token.' }) },
    example: {},
  }),
};
