import { expect, it } from 'vitest';
import { sharedApi } from './setup.ts';

const api = sharedApi();

interface Listed {
  readonly id: string;
  readonly name: string;
}

/** Follows the `Link` headers from the first page to the last, and returns all pages. */
async function pages(url: string): Promise<readonly (readonly Listed[])[]> {
  const found: Listed[][] = [];
  let next: string | undefined = url;
  while (next !== undefined) {
    const { status, body, headers } = await api().call('GET', next);
    expect(status).toBe(200);
    found.push(body);
    next = /^<([^>]+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
  }
  return found;
}

it('a list is returned whole, or in pages that together equal the whole', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await api().group(name);
  await api().peers('one', 'two', 'three');
  for (const [url, count] of [
    ['/api/groups', 5],
    ['/api/peers', 3],
  ] as const) {
    const whole = await api().call('GET', url);
    expect([whole.body.length, whole.headers['link']]).toEqual([count, undefined]);
    for (const limit of [1, 2, count, 1000]) {
      const found = await pages(`${url}?limit=${limit}`);
      expect(found.flat()).toEqual(whole.body);
      expect(found.length).toBe(Math.ceil(count / limit));
    }
    expect((await api().call('GET', `${url}?after=${whole.body[0].id}`)).body).toEqual(whole.body.slice(1));
  }
});

it('a page keeps its filters, and continues after an object that was deleted', async () => {
  const ids: string[] = [];
  for (const name of ['web-1', 'db-1', 'web-2', 'web-3']) ids.push(...(await api().peers(name)));
  const found = await pages('/api/peers?name=web&limit=1');
  expect(found.map(([peer]) => peer?.name)).toEqual(['Peer web-1', 'Peer web-2', 'Peer web-3']);
  const [first] = (await api().call('GET', '/api/peers?name=web&limit=1')).body;
  expect((await api().call('DELETE', `/api/peers/${first.id}`)).status).toBe(200);
  const rest = (await api().call('GET', `/api/peers?name=web&after=${first.id}`)).body;
  expect(rest.map(({ name }: Listed) => name)).toEqual(['Peer web-2', 'Peer web-3']);
});

it('objects with numeric ids are paged by their ids too', async () => {
  const key = { type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 };
  for (const name of ['k1', 'k2', 'k3']) await api().call('POST', '/api/setup-keys', { name, ...key });
  const found = await pages('/api/setup-keys?limit=2');
  expect(found.flat()).toEqual((await api().call('GET', '/api/setup-keys')).body);
  const { status, body } = await api().call('GET', '/api/setup-keys?after=x');
  expect([status, body.problems[0].path]).toEqual([422, '/after']);
});

it.each(['0', '-1', '1.5', 'x', '1001'])('a page limit of %s is refused with 422', async (limit) => {
  const { status, body } = await api().call('GET', `/api/groups?limit=${limit}`);
  expect([status, body.problems]).toMatchObject([422, [{ code: 'filter_invalid', path: '/limit' }]]);
});

it('a page has a separate ETag, and its 304 links the next page as well', async () => {
  const first = await api().call('GET', '/api/groups?limit=1');
  const again = await api().call('GET', '/api/groups?limit=1', undefined, {
    'if-none-match': first.headers['etag'] ?? '',
  });
  expect([again.status, again.headers['link']]).toEqual([304, first.headers['link']]);
  expect((await api().call('GET', '/api/groups')).headers['etag']).not.toBe(first.headers['etag']);
});
