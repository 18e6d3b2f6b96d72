import { isObject, type Json } from '../../../lib/json.ts';
import type { OutboundAnswer, OutboundRequest } from '../../../outbound/client.ts';
import { OutboundFailure } from '../../../outbound/failure.ts';
import { type ExpiringSecret, readExpiringSecrets } from '../application-secrets.ts';
import { countJsonValues, parseRetryAfter } from '../deliveries/answer.ts';
import type { Cloud } from './clouds.ts';
import { DirectoryFailure } from './failure.ts';
import { type GroupDelta, readGroups, readUserIds, readUsers, type UserDelta } from './items.ts';
import { type AccessToken, type Credentials, readObject, requestToken } from './token.ts';

/** Options of a client. */
export interface ClientOptions {
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
  /**
   * Returns these users, at most `maxUsersPerRequest`. Users that the directory does not have are missing in the
   * result.
   */
  findUsers(ids: readonly string[]): Promise<readonly UserDelta[]>;
  /** Returns the secrets of the application, or `undefined` when the application may not read them. */
  secrets(): Promise<readonly ExpiringSecret[] | undefined>;
}

/** Maximum number of users that one request may name: a filter takes no more. */
export const maxUsersPerRequest = 15;

const pageSize = 999;
const defaultTimeoutMs = 60_000;
const maxResponseBytes = 8 * 1024 * 1024;
const maxValues = 1_000_000;
/** Maximum length of a page. The requested page size is a preference that a directory need not follow exactly. */
const maxItems = 10 * pageSize;
/** Maximum number of members that are read of a group. Directories allow fewer. */
const maxMembers = 1_000_000;
const userFields = 'id,displayName,userPrincipalName,mail,accountEnabled';

/** Creates a client. It signs in when it is first used, and again when its token ends. */
export function createDirectoryClient(parts: ClientOptions): DirectoryClient {
  const { cloud, credentials, timeoutMs = defaultTimeoutMs } = parts;
  const guarded: ClientOptions = {
    ...parts,
    send: (request) => translateFailure(parts.send({ timeoutMs, ...request })),
  };
  let token: AccessToken | undefined;
  const get = async (url: URL, isAgain = false): Promise<OutboundAnswer> => {
    if (token === undefined || token.usableUntil <= parts.now()) token = await requestToken(guarded);
    const answer = await guarded.send({
      ...{ url, namedBy: cloud.namedBy, maxBytes: maxResponseBytes },
      headers: headersWith(token),
    });
    if (answer.status !== 401 || isAgain) return answer;
    // The token was revoked, or it ends earlier than the directory announced.
    token = undefined;
    return get(url, true);
  };
  const read = async (url: URL): Promise<Readonly<Record<string, Json>>> => {
    const answer = await get(url);
    if (answer.status !== 200) throw failureOf(answer, url, parts.now());
    return parseAnswer(answer.body, url.host);
  };
  const page = async <Item>(url: URL, items: (values: readonly Json[]) => readonly Item[]): Promise<Page<Item>> => {
    const body = await read(url);
    const { '@odata.nextLink': next, '@odata.deltaLink': delta } = body;
    const link = typeof next === 'string' ? next : delta;
    if (typeof link !== 'string')
      throw new DirectoryFailure('away', `${url.host} answers with a page that has no link to the rest of the list`);
    const listed = items(valuesOf(body, url.host));
    return { items: listed, link: requireDirectoryLink(cloud, link).href, last: link !== next };
  };
  const begin = (path: string, query: Readonly<Record<string, string>>): URL => {
    const url = new URL(`/v1.0/${path}`, cloud.api);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };
  const from = (link: string | null, path: string, select: string): URL =>
    link === null ? begin(path, { $select: select }) : requireDirectoryLink(cloud, link);
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
        if (seen.size === seen.add(url.href).size || ids.length > maxMembers) throw endlessListFailure();
        const body = await read(url);
        ids.push(...readUserIds(valuesOf(body, url.host)));
        const { '@odata.nextLink': next } = body;
        url = typeof next === 'string' ? requireDirectoryLink(cloud, next) : undefined;
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
      const { passwordCredentials: secrets } = parseAnswer(answer.body, url.host);
      return readExpiringSecrets(secrets);
    },
  };
}

function headersWith({ text }: AccessToken): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${text}`, accept: 'application/json', prefer: `odata.maxpagesize=${pageSize}` };
}

/** Returns the failure of a list that leads back to itself or has no end. */
export function endlessListFailure(): DirectoryFailure {
  return new DirectoryFailure(
    'away',
    'the directory answers with a page that links to itself, or with an endless list',
  );
}

async function translateFailure(answer: Promise<OutboundAnswer>): Promise<OutboundAnswer> {
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
function requireDirectoryLink({ api }: Cloud, link: string): URL {
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
  const afterMs = parseRetryAfter(headers['retry-after'], now);
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
function parseAnswer(body: Buffer, host: string): Readonly<Record<string, Json>> {
  if (countJsonValues(body) > maxValues)
    throw new DirectoryFailure(
      'away',
      `${host} answers with more than ${maxValues} values; such an answer is not read`,
    );
  const value = readObject(body);
  if (Object.keys(value).length === 0) throw new DirectoryFailure('away', `${host} answers 200 without valid JSON`);
  return value;
}

function valuesOf({ value }: Readonly<Record<string, Json>>, host: string): readonly Json[] {
  if (Array.isArray(value) && value.length > maxItems)
    throw new DirectoryFailure(
      'away',
      `${host} answers with a list of ${value.length} items; the maximum is ${maxItems}`,
    );
  if (Array.isArray(value)) return value;
  throw new DirectoryFailure('away', `${host} answers 200 without a list`);
}
