import createClient from 'openapi-fetch';
import type { paths } from './description.js';
import { found, type Server, sent, type Trips, trip } from './trip.js';

/**
 * Returns the round trips of objects that may be absent in the profile `compatible`, with `openapi-typescript` and
 * `openapi-fetch`.
 */
export function trips({ baseUrl, token }: Server): Trips {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Token ${token}` } });
  return {
    '/api/integrations/edr/vendor-a': () =>
      trip({
        read: () => found(sent(client.GET('/api/integrations/edr/vendor-a'))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(client.PUT('/api/integrations/edr/vendor-a', { body })),
      }),
    '/api/integrations/edr/vendor-b': () =>
      trip({
        read: () => found(sent(client.GET('/api/integrations/edr/vendor-b'))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(client.PUT('/api/integrations/edr/vendor-b', { body: { ...body, secret: null } })),
      }),
    '/api/integrations/edr/vendor-c': () =>
      trip({
        read: () => found(sent(client.GET('/api/integrations/edr/vendor-c'))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(client.PUT('/api/integrations/edr/vendor-c', { body })),
      }),
    '/api/event-streaming/{id}': (id: string) =>
      trip({
        read: () => sent(client.GET('/api/event-streaming/{id}', { params: { path: { id: Number(id) } } })),
        change: (stream) => ({ ...stream, enabled: !stream.enabled }),
        write: ({ id, enabled, config }) =>
          sent(client.PUT('/api/event-streaming/{id}', { params: { path: { id } }, body: { enabled, config } })),
      }),
  };
}

/**
 * Creates setup keys without a usage limit, which may be used any number of times. Returns their limits in the
 * responses.
 */
export async function usesOfUnlimitedKey({ baseUrl, token }: Server): Promise<readonly number[]> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Token ${token}` } });
  const key = { name: 'unlimited', type: 'reusable', expires_in: 0, auto_groups: [] } as const;
  const create = async (limit?: null) => {
    const body = { ...key, auto_groups: [...key.auto_groups], ...(limit === undefined ? {} : { usage_limit: limit }) };
    return (await sent(client.POST('/api/setup-keys', { body }))).usage_limit;
  };
  return [await create(), await create(null)];
}
