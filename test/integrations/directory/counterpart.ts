import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { DirectoryHost } from '../../../src/lib/directory-hosts.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { certificate, privateKey } from '../../sources/https-certificate.ts';
import { createDirectory, type Directory, shown } from './changes.ts';

/** Answer to play instead of the usual one: a status with headers and an error code, or a function. */
export type Instead =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly code?: string }
  | ((response: ServerResponse, answer: () => unknown) => void);

/** Server that follows the documentation of the directory's API, and checks requests as strictly. */
export interface Counterpart extends DirectoryHost {
  readonly directory: Directory;
  /** Requests in order of arrival: `token`, or the path and the names of its query parameters. */
  readonly requests: string[];
  /** What was wrong with invalid requests. */
  readonly faults: readonly string[];
  /** Number of items per page. */
  pageSize: number;
  /** Lifetime of a token, in seconds. */
  tokenSeconds: number;
  /** Whether the application may read its own registration, which lists its secrets. */
  readsItself: boolean;
  secrets: readonly JsonObject[];
  secret: string;
  /** Sets the answers to the next requests for data, one request per answer. */
  next(...instead: readonly Instead[]): void;
  /** Sets the answer to the next request for a token. */
  nextToken(status: number, body: JsonObject, headers?: Readonly<Record<string, string>>): void;
  /** Refuses all tokens issued so far. */
  revokeTokens(): void;
  /** Refuses all page and delta links issued so far. */
  expireLinks(): void;
  stop(): Promise<void>;
}

export const tenant = 'b4f7c2d0-13a8-4f5e-8a67-2c9d1e0f3b55';
export const application = '5f1c9a52-7c1e-4c0a-9d3e-0b6f2f6d8a11';

const fields = {
  users: 'id,displayName,userPrincipalName,mail,accountEnabled',
  groups: 'id,displayName,members',
} as const;

/** Target of a link: the remaining items of a list (`items`), or the changes after a moment. */
interface LinkTarget {
  readonly list: 'users' | 'groups';
  readonly items?: readonly JsonObject[];
  readonly moment?: number;
}

/** Starts a counterpart. With `secure` it uses HTTPS, with the test certificate. */
export async function startCounterpart({ secure = false } = {}): Promise<Counterpart> {
  const directory = createDirectory();
  const requests: string[] = [];
  const faults: string[] = [];
  const tokens = new Map<string, number>();
  const links = new Map<string, LinkTarget>();
  const instead: Instead[] = [];
  const insteadOfTokens: (readonly [number, JsonObject, Readonly<Record<string, string>>])[] = [];
  let given = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => void handle(request, response);
  const server = secure ? createSecureServer({ cert: certificate, key: privateKey }, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `address()` returns an `AddressInfo` for a server that listens over TCP.
  const origin = `${secure ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(stop);
  const counterpart: Counterpart = {
    ...{ signIn: origin, api: origin, directory, requests, faults, pageSize: 3, tokenSeconds: 3599 },
    ...{ readsItself: true, secret: 'Pq8~secret/of+the-app' },
    secrets: [{ hint: 'Pq8', endDateTime: new Date(Date.now() + 365 * 86_400_000).toISOString() }],
    next: (...answers) => void instead.push(...answers),
    nextToken: (status, body, headers = {}) => void insteadOfTokens.push([status, body, headers]),
    revokeTokens: () => tokens.clear(),
    expireLinks: () => links.clear(),
    stop,
  };

  const link = (
    list: LinkTarget['list'],
    what: 'deltatoken' | 'skiptoken',
    target: Omit<LinkTarget, 'list'>,
  ): string => {
    given += 1;
    const name = `${what}-${given}`;
    links.set(name, { list, ...target });
    return `${origin}/v1.0/${list}/delta?$${what}=${name}`;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', origin);
    if (url.pathname.endsWith('/token')) {
      requests.push('token');
      answerToken(request, url, await textOf(request), response);
      return;
    }
    requests.push(`${url.pathname.replace('/v1.0/', '')} ${[...url.searchParams.keys()].join(',')}`.trim());
    const answer = (): unknown => answerData(request, url, response);
    const other = instead.shift();
    if (other === undefined) answer();
    else if (typeof other === 'function') other(response, answer);
    else send(response, other.status, { error: { code: other.code ?? 'unknown', message: 'no' } }, other.headers);
  }

  function answerToken(request: IncomingMessage, url: URL, text: string, response: ServerResponse): unknown {
    const form = new URLSearchParams(text);
    const wrong = [
      request.method !== 'POST' && `the method is ${request.method}`,
      url.pathname !== `/${tenant}/oauth2/v2.0/token` && `the path is ${url.pathname}`,
      request.headers['content-type'] !== 'application/x-www-form-urlencoded' && 'it is no form',
      form.get('grant_type') !== 'client_credentials' && `the grant is ${form.get('grant_type')}`,
      form.get('scope') !== `${origin}/.default` && `the scope is ${form.get('scope')}`,
      [...form.keys()].length !== 4 && `the form has ${[...form.keys()].join(', ')}`,
    ].filter((fault) => fault !== false);
    faults.push(...wrong);
    const other = insteadOfTokens.shift();
    if (other !== undefined) return send(response, other[0], other[1], other[2]);
    if (wrong.length > 0) return send(response, 400, { error: 'invalid_request', error_codes: [900144] });
    if (form.get('client_id') !== application)
      return send(response, 400, { error: 'unauthorized_client', error_codes: [700016] });
    if (form.get('client_secret') !== counterpart.secret)
      return send(response, 401, { error: 'invalid_client', error_description: text, error_codes: [7000215] });
    given += 1;
    const token = `bearer-${given}`;
    tokens.set(token, Date.now() + counterpart.tokenSeconds * 1000);
    return send(response, 200, { token_type: 'Bearer', expires_in: counterpart.tokenSeconds, access_token: token });
  }

  function answerData(request: IncomingMessage, url: URL, response: ServerResponse): unknown {
    const { authorization = '', accept, prefer } = request.headers;
    const end = tokens.get(authorization.replace(/^Bearer /, ''));
    if (end === undefined || end < Date.now()) return fail(response, 401, 'InvalidAuthenticationToken');
    if (request.method !== 'GET') faults.push(`the method is ${request.method}`);
    if (accept !== 'application/json') faults.push(`it accepts ${accept}`);
    if (prefer !== 'odata.maxpagesize=999') faults.push(`it prefers ${prefer}`);
    const path = url.pathname.replace(/^\/v1\.0\//, '');
    const members = /^groups\/([^/]+)\/members$/.exec(path);
    if (path === 'users/delta' || path === 'groups/delta') return answerDelta(path, url, response);
    if (members !== null) return answerMembers(decodeURIComponent(members[1] ?? ''), url, response);
    if (path === 'users') return answerUsers(url, response);
    if (path === `applications(appId='${application}')`) {
      if (!counterpart.readsItself) return fail(response, 403, 'Authorization_RequestDenied');
      return send(response, 200, { id: 'app', passwordCredentials: counterpart.secrets });
    }
    faults.push(`there is nothing at ${path}`);
    return fail(response, 404, 'Request_ResourceNotFound');
  }

  function answerDelta(path: 'users/delta' | 'groups/delta', url: URL, response: ServerResponse): unknown {
    const list = path === 'users/delta' ? 'users' : 'groups';
    const names = [...url.searchParams.keys()];
    const token = url.searchParams.get('$deltatoken') ?? url.searchParams.get('$skiptoken');
    if (token === null && (names.join() !== '$select' || url.searchParams.get('$select') !== fields[list]))
      faults.push(`a list begins with ${url.search}`);
    // The token contains all other parameters; a client must not repeat them.
    if (token !== null && names.length !== 1) faults.push(`a link was changed to ${url.search}`);
    const target: LinkTarget | undefined = token === null ? { list } : links.get(token);
    if (target === undefined || target.list !== list) return fail(response, 400, 'syncStateNotFound');
    const { pageSize } = counterpart;
    const items = target.items ?? split(directory.since(list, target.moment), pageSize);
    const moment = target.items === undefined ? directory.now : (target.moment ?? 0);
    const rest = items.slice(pageSize);
    const next =
      rest.length > 0
        ? { '@odata.nextLink': link(list, 'skiptoken', { items: rest, moment }) }
        : { '@odata.deltaLink': link(list, 'deltatoken', { moment }) };
    const context = `${origin}/v1.0/$metadata#${list}`;
    return send(response, 200, { '@odata.context': context, ...next, value: items.slice(0, pageSize) });
  }

  function answerMembers(id: string, url: URL, response: ServerResponse): unknown {
    const { searchParams: query } = url;
    if (query.get('$select') !== 'id' || query.get('$top') !== '999') faults.push(`members with ${url.search}`);
    const group = directory.groups.get(id);
    if (group === undefined) return fail(response, 404, 'Request_ResourceNotFound');
    const from = Number(query.get('$skiptoken') ?? 0);
    const all = [...group.members.values()].map(shown);
    const to = from + counterpart.pageSize;
    const next = `${origin}/v1.0/groups/${encodeURIComponent(id)}/members?$select=id&$top=999&$skiptoken=${to}`;
    const more = to < all.length ? { '@odata.nextLink': next } : {};
    return send(response, 200, { ...more, value: all.slice(from, to) });
  }

  function answerUsers(url: URL, response: ServerResponse): unknown {
    const { searchParams: query } = url;
    const [, listed = ''] = /^id in \((.+)\)$/.exec(query.get('$filter') ?? '') ?? [];
    const ids = listed.split(',').map((text) => /^'(.*)'$/.exec(text)?.[1] ?? '');
    if (query.get('$select') !== fields.users || ids.includes('') || ids.length > 15) {
      faults.push(`users with ${url.search}`);
      return fail(response, 400, 'BadRequest');
    }
    const found = ids.flatMap((id) => {
      const user = directory.users.get(id);
      return user === undefined ? [] : [{ id, ...user }];
    });
    return send(response, 200, { value: found });
  }

  return counterpart;
}

/** Splits a group with more than `size` members into several items, each with a part of the members. */
function split(items: readonly JsonObject[], size: number): readonly JsonObject[] {
  return items.flatMap((item) => {
    const members = item['members@delta'];
    if (!Array.isArray(members) || members.length <= size) return [item];
    const parts = Array.from({ length: Math.ceil(members.length / size) }, (_, at) =>
      members.slice(at * size, (at + 1) * size),
    );
    return parts.map((part) => ({ ...item, 'members@delta': part }));
  });
}

function fail(response: ServerResponse, status: number, code: string): unknown {
  return send(response, status, { error: { code, message: 'see the code', innerError: {} } });
}

function send(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): unknown {
  return response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
