import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import type { Json, JsonObject } from '../../../src/lib/json.ts';

/** Answer to a provider. An absent body is an empty object. */
export interface ScimAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // Tests look into bodies member by member; a wrong member is `undefined` and fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly body: any;
}

export type ScimClient = (
  method: string,
  path: string,
  body?: Json,
  headers?: Readonly<Record<string, string>>,
) => Promise<ScimAnswer>;

const messages = 'urn:ietf:params:scim:api:messages:2.0';
const schemas = 'urn:ietf:params:scim:schemas:core:2.0';

/** Values of `scimType` in errors, from RFC 7644, section 3.12. */
const reasons = [
  ...['invalidFilter', 'tooMany', 'uniqueness', 'mutability', 'invalidSyntax', 'invalidPath', 'noTarget'],
  ...['invalidValue', 'invalidVers', 'sensitive'],
];

/** Returns a client that acts as an identity provider, and checks that every answer conforms to RFC 7644. */
export function scimClient(app: FastifyInstance, token: string, mount = '/scim/v2'): ScimClient {
  return async (method, path, body, headers = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url: `${mount}${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = {
      status: response.statusCode,
      headers: response.headers as Readonly<Record<string, string>>,
      body: response.body === '' ? {} : JSON.parse(response.body),
    };
    if (response.body === '') expect([204, 304], `${method} ${path}`).toContain(answer.status);
    else checkAnswer(method, path, answer);
    return answer;
  };
}

function checkAnswer(method: string, path: string, { status, headers, body }: ScimAnswer): void {
  const what = `${method} ${path}: ${status} ${JSON.stringify(body).slice(0, 500)}`;
  expect(headers['content-type'], what).toBe('application/scim+json; charset=utf-8');
  expect(headers['cache-control'], what).toBe('no-store');
  expect(body.schemas, what).toHaveLength(1);
  if (status >= 400) {
    expect(body, what).toMatchObject({ schemas: [`${messages}:Error`], status: String(status) });
    expect(body.detail, what).toMatch(/./);
    if (body.scimType !== undefined) expect(reasons, what).toContain(body.scimType);
    return;
  }
  if (body.schemas[0] === `${messages}:ListResponse`) checkList(body, what);
  else checkResource(body, what);
  if (status === 201) expect(headers['location'], what).toBe(body.meta?.location ?? headers['location']);
  if (headers['etag'] !== undefined && body.meta !== undefined) expect(body.meta.version, what).toBe(headers['etag']);
}

function checkList({ totalResults, startIndex, itemsPerPage, Resources = [] }: JsonObject, what: string): void {
  const list = Resources as readonly JsonObject[];
  expect([typeof totalResults, typeof startIndex], what).toEqual(['number', 'number']);
  expect(itemsPerPage, what).toBe(list.length);
  expect(list.length, what).toBeLessThanOrEqual(Number(totalResults));
  for (const resource of list) checkResource(resource, what);
}

function checkResource(resource: JsonObject, what: string): void {
  const [schema] = resource['schemas'] as readonly string[];
  expect(schema, what).toMatch(new RegExp(`^${schemas}:`));
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const { meta } = resource as any;
  if (meta === undefined) return;
  expect(schema, what).toBe(`${schemas}:${meta.resourceType}`);
  if (meta.location !== undefined) expect(new URL(meta.location).pathname, what).toMatch(/\/scim\/v2\//);
  for (const at of [meta.created, meta.lastModified])
    if (at !== undefined) expect(new Date(at).toISOString(), what).toBe(at);
}

/** Returns a user resource as providers send it. */
export function person(userName: string, more: JsonObject = {}): JsonObject {
  return {
    schemas: [`${schemas}:User`],
    userName,
    displayName: userName.replace(/@.*/, ''),
    emails: [{ value: userName, type: 'work', primary: true }],
    active: true,
    ...more,
  };
}

/** Returns a group resource as providers send it. */
export function team(displayName: string, members: readonly string[] = [], more: JsonObject = {}): JsonObject {
  const list = members.map((value) => ({ value }));
  return { schemas: [`${schemas}:Group`], displayName, ...(list.length === 0 ? {} : { members: list }), ...more };
}

/** Returns the body of a PATCH request. */
export function patch(...Operations: readonly JsonObject[]): JsonObject {
  return { schemas: [`${messages}:PatchOp`], Operations };
}
