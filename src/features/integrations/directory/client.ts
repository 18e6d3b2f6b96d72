import { isObject, type Json } from '../../../lib/json.ts';
import type { OutboundAnswer, OutboundRequest } from '../../../outbound/client.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import { readSecretEnds, type SecretEnd } from '../application-secrets.ts';
import { countValues, retryAfter } from '../deliveries/answer.ts';
import type { Cloud } from './clouds.ts';
import { DirectoryFailure } from './failure.ts';
import { type GroupDelta, readGroups, readIds, readUsers, type UserDelta } from './items.ts';
import { type AccessToken, type Credentials, readObject, requestToken } from './token.ts';

/** Options of a client. */
export interface ClientParts {
  readonly cloud: Cloud;
  readonly credentials: Credentials;
  send(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Time limit of a request, in milliseconds. Absent: a minute. */
  readonly timeoutMs?: number | undefined;
  /** Returns the time in milliseconds since 1970. */
  now(): number;
}

/** Part of a list, with the link at which the list continues. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly link: string;
  /** Whether the list ends here. The link then leads to later changes. */
  readonly last: boolean;
}

/** Reads a directory. Every method throws `DirectoryFailure`. */
export interface DirectoryClient {
  /**
   * Returns a page of the groups that changed, with members who joined and left. Without a link, all groups are listed.
   */
  groups(link: string | null): Promise<Page<GroupDelta>>;
  /** Returns a page of the users who changed. Without a link, all users are listed. */
  users(link: string | null): Promise<Page<UserDelta>>;
  /** Returns the ids of the users who are direct members of a group. */
  members(group: string): Promise<readonly string[]>;
  /** Returns these users, at most `usersAtOnce`. Users that the directory does not have are missing in the result. */
  findUsers(ids: readonly string[]): Promise<readonly UserDelta[]>;
  /** Returns the secrets of the application, or `undefined` when the application may not read them. */
  secrets(): Promise<readonly SecretEnd[] | undefined>;
}

/** Maximum number of users that one request may name: a filter takes no more. */
export const usersAtOnce = 15;

const pageSize = 999;
const usualTimeoutMs = 60_000;
const mostBytes = 8 * 1024 * 1024;
const mostValues = 1_000_000;
/** Maximum length of a page. The requested page size is a preference that a directory need not follow exactly. */
const mostItems = 10 * pageSize;
/** Maximum number of members that are read of a group. Directories allow fewer. */
const mostMembers = 1_000_000;
const userFields = 'id,displayName,userPrincipalName,mail,accountEnabled';

/** Creates a client. It signs in when it is first used, and again when its token ends. */
export function createDirectoryClient(parts: ClientParts): DirectoryClient {
  const { cloud, credentials, timeoutMs = usualTimeoutMs } = parts;
  const guarded: ClientParts = { ...parts, send: (request) => sent(parts.send({ timeoutMs, ...request })) };
  let token: AccessToken | undefined;
  const get = async (url: URL, isAgain = false): Promise<OutboundAnswer> => {
    if (token === undefined || token.until <= parts.now()) token = await requestToken(guarded);
    const answer = await guarded.send({
      ...{ url, namedBy: cloud.namedBy, maxBytes: mostBytes },
      headers: {
        authorization: `Bearer ${token.text}`,
        accept: 'application/json',
        prefer: `odata.maxpagesize=${pageSize}`,
      },
    });
    if (answer.status !== 401 || isAgain) return answer;
    // The token was revoked, or it ends earlier than the directory announced.
    token = undefined;
    return get(url, true);
  };
  const read = async (url: URL): Promise<Readonly<Record<string, Json>>> => {
    const answer = await get(url);
    if (answer.status !== 200) throw failureOf(answer, url, parts.now());
    return wholeObject(answer.body, url.host);
  };
  const page = async <Item>(url: URL, items: (values: readonly Json[]) => readonly Item[]): Promise<Page<Item>> => {
    const body = await read(url);
    const { '@odata.nextLink': next, '@odata.deltaLink': delta } = body;
    const link = typeof next === 'string' ? next : delta;
    if (typeof link !== 'string')
      throw new DirectoryFailure('away', `${url.host} answers with a page that has no link to the rest of the list`);
    return { items: items(valuesOf(body, url.host)), link: linkTo(cloud, link).href, last: link !== next };
  };
  const begin = (path: string, query: Readonly<Record<string, string>>): URL => {
    const url = new URL(`/v1.0/${path}`, cloud.api);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };
  const from = (link: string | null, path: string, select: string): URL =>
    link === null ? begin(path, { $select: select }) : linkTo(cloud, link);
  return {
    groups: (link) => page(from(link, 'groups/delta', 'id,displayName,members'), readGroups),
    users: (link) => page(from(link, 'users/delta', userFields), readUsers),
    async members(group) {
      const ids: string[] = [];
      let url: URL | undefined = begin(`groups/${encodeURIComponent(group)}/members`, {
        $select: 'id',
        $top: String(pageSize),
      });
      const seen = new Set<string>();
      while (url !== undefined) {
        if (seen.size === seen.add(url.href).size || ids.length > mostMembers) throw endless();
        const body = await read(url);
        ids.push(...readIds(valuesOf(body, url.host)));
        const { '@odata.nextLink': next } = body;
        url = typeof next === 'string' ? linkTo(cloud, next) : undefined;
      }
      return ids;
    },
    async findUsers(ids) {
      const named = ids.map((id) => `'${id.replaceAll("'", "''")}'`).join(',');
      const url = begin('users', { $filter: `id in (${named})`, $select: userFields });
      return readUsers(valuesOf(await read(url), url.host));
    },
    async secrets() {
      const url = begin(`applications(appId='${encodeURIComponent(credentials.clientId)}')`, {
        $select: 'id,passwordCredentials',
      });
      const answer = await get(url);
      if (answer.status === 403 || answer.status === 404) return undefined;
      if (answer.status !== 200) throw failureOf(answer, url, parts.now());
      const { passwordCredentials: secrets } = wholeObject(answer.body, url.host);
      return readSecretEnds(secrets);
    },
  };
}

/** Returns the failure of a list that leads back to itself or has no end. */
export function endless(): DirectoryFailure {
  return new DirectoryFailure(
    'away',
    'the directory answers with a page that links to itself, or with an endless list',
  );
}

async function sent(answer: Promise<OutboundAnswer>): Promise<OutboundAnswer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    const outcome = ['redirected', 'refused'].includes(error.outcome) ? 'refused' : 'away';
    throw new DirectoryFailure(outcome, error.message, { cause: error });
  }
}

/**
 * Returns the URL of a link. Throws unless the link leads to the directory, because the token must not be sent anywhere
 * else.
 */
function linkTo({ api }: Cloud, link: string): URL {
  const url = URL.parse(link);
  if (url !== null && url.origin === api && url.username === '') return url;
  throw new DirectoryFailure(
    'away',
    `${new URL(api).host} answers with a link to another origin, which is not followed`,
  );
}

/** Error codes of a link that the directory does not know any more. Status 410 means the same. */
const expiredCodes: ReadonlySet<string> = new Set([
  'syncstatenotfound',
  'syncstateinvalid',
  'resyncrequired',
  'directory_expiredpagetoken',
]);

function failureOf({ status, headers, body }: OutboundAnswer, url: URL, now: number): DirectoryFailure {
  const { error } = readObject(body);
  const given = isObject(error) ? error['code'] : undefined;
  const code = typeof given === 'string' && /^\w{1,64}$/.test(given) ? given : undefined;
  const said = `${url.host} answers ${status}${code === undefined ? '' : ` (${code})`}`;
  const isKnownTo = /[?&](\$|%24)(deltatoken|skiptoken)=/i.test(url.search);
  if (isKnownTo && (status === 410 || (code !== undefined && expiredCodes.has(code.toLowerCase()))))
    return new DirectoryFailure('expired', `${said}: it no longer knows the changes since the last sync`);
  const afterMs = retryAfter(headers['retry-after'], now);
  if (status === 429 || status === 408 || status >= 500)
    return new DirectoryFailure('away', said, afterMs === undefined ? {} : { afterMs });
  if (status === 401)
    return new DirectoryFailure('away', `${said}: it does not accept the token that it issued a moment ago`);
  if (status === 403)
    return new DirectoryFailure(
      'refused',
      `${said}: the application may not read users and groups; grant it User.Read.All and GroupMember.Read.All as application permissions, with the consent of an administrator`,
    );
  return new DirectoryFailure('refused', said);
}

/** Parses an answer. Throws when it is incomplete or has too many values. */
function wholeObject(body: Buffer, host: string): Readonly<Record<string, Json>> {
  if (countValues(body) > mostValues)
    throw new DirectoryFailure(
      'away',
      `${host} answers with more than ${mostValues} values; such an answer is not read`,
    );
  const value = readObject(body);
  if (Object.keys(value).length === 0) throw new DirectoryFailure('away', `${host} answers 200 without valid JSON`);
  return value;
}

function valuesOf({ value }: Readonly<Record<string, Json>>, host: string): readonly Json[] {
  if (Array.isArray(value) && value.length > mostItems)
    throw new DirectoryFailure(
      'away',
      `${host} answers with a list of ${value.length} items; the maximum is ${mostItems}`,
    );
  if (Array.isArray(value)) return value;
  throw new DirectoryFailure('away', `${host} answers 200 without a list`);
}
