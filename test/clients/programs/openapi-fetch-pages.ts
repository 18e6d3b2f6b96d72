import createClient from 'openapi-fetch';
import type { components, operations, paths } from './description.js';
import { type Server, sent } from './trip.js';

/** Returns the names of all groups, in pages of two. Each page begins after the last group of the previous page. */
export async function groupsInPages({ baseUrl, token }: Server): Promise<readonly (readonly string[])[]> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Token ${token}` } });
  const pages: string[][] = [];
  for (let after: string | undefined; ; ) {
    const query = { limit: 2, ...(after === undefined ? {} : { after }) };
    const { data = [], response } = await client.GET('/api/groups', { params: { query } });
    pages.push(data.map(({ name }) => name));
    after = data.at(-1)?.id;
    if (!/rel="next"/.test(response.headers.get('link') ?? '')) return pages;
  }
}

/** Reads the first page of each log. Returns its page number, page size, number of pages and number of records. */
export async function recordsInPages({ baseUrl, token }: Server): Promise<readonly number[]> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Token ${token}` } });
  const params = { query: { page: 1, page_size: 10 } };
  const traffic = await sent(client.GET('/api/events/network-traffic', { params }));
  const requests = await sent(client.GET('/api/events/proxy', { params }));
  return [traffic, requests].flatMap(({ page, page_size, total_pages, data }) => [
    ...[page, page_size],
    ...[total_pages, data.length],
  ]);
}

type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;
type Request = components['schemas']['SourceRequest'];

/** Queries for pages of peers and groups, and for older audit events. */
export const pages: readonly [Query<'listPeers'>, Query<'listGroups'>, Query<'listAuditEvents'>] = [
  { limit: 2, after: 'x' },
  { limit: 2, after: 'x' },
  { before: 7 },
];

/** The type of a source determines its members. */
export function addressOf(source: Request): string {
  // @ts-expect-error: one that is pushed has no address.
  source.url;
  return source.type === 'git' ? source.url : source.name;
}

// @ts-expect-error: nothing else is a type of a source.
export const unknown: Request = { name: 'x', type: 'svn' };
// @ts-expect-error: how many is a number.
export const many: Query<'listPeers'> = { limit: 'all' };
