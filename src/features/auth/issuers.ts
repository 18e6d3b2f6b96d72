import { createRemoteJWKSet, customFetch, type FetchImplementation, type JWTVerifyGetKey } from 'jose';
import { codeOf } from '../../lib/error-code.ts';
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';
import { OutboundFailure } from '../../outbound/failure.ts';
import type { Outbound } from '../../outbound/outbound.ts';

/** What an issuer calls the facts about a person. */
export interface ClaimNames {
  readonly user: string;
  readonly email: string;
  readonly name: string;
  readonly domain: string;
}

/** The names of OpenID Connect. */
export const standardClaims: ClaimNames = { user: 'sub', email: 'email', name: 'name', domain: 'hd' };

/** An issuer whose tokens this server accepts. */
export interface Issuer {
  /** `embedded`: the server itself, whose `sub` is the id of a user. */
  readonly kind: 'embedded' | 'external';
  /** The claim `iss`, letter by letter. */
  readonly issuer: string;
  /** One of these has to be in the claim `aud`. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  /** Finds the key of a token. Throws `Unavailable` when it cannot be fetched. */
  readonly keys: JWTVerifyGetKey;
  /** Changes whenever the keys do: what was checked before is checked again. */
  readonly epoch: () => number;
  readonly claims: ClaimNames;
  /** Every e-mail address is the person's own, also when the token does not say so. */
  readonly trustsEmail: boolean;
  /** More about the person whom a token belongs to, fetched once, at the first sign-in. */
  describe?(token: string): Promise<JsonObject>;
}

/** Signatures that are accepted: those that only the holder of a private key can make. */
const signatures = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** The settings of an external issuer. */
export interface ExternalIssuer {
  readonly issuer: string;
  /** How it is reached. */
  readonly outbound: Pick<Outbound, 'send'>;
  readonly audience: readonly string[];
  readonly algorithms?: readonly string[];
  readonly claims?: Partial<ClaimNames>;
  readonly trustsEmail?: boolean;
  /** How long its keys are taken as they are, how soon a missing one is asked for again, how long an answer may take. */
  readonly keysLastMs?: number;
  readonly cooldownMs?: number;
  readonly timeoutMs?: number;
}

/** An issuer that is found by OpenID Connect discovery, when its first token comes. */
export function createExternalIssuer(options: ExternalIssuer): Issuer {
  const { issuer, audience, algorithms = signatures, claims = {}, trustsEmail = false } = options;
  const keys = createRemoteKeys(options);
  return {
    ...{ kind: 'external', issuer, audience, algorithms, trustsEmail },
    claims: { ...standardClaims, ...claims },
    keys: keys.find,
    epoch: keys.epoch,
    async describe(token) {
      const { userinfo } = await keys.places();
      return userinfo === undefined ? {} : await readJson(userinfo, options, { authorization: `Bearer ${token}` });
    },
  };
}

interface Places {
  readonly keys: URL;
  readonly userinfo: URL | undefined;
}

type RemoteSet = ReturnType<typeof createRemoteJWKSet>;

/**
 * The keys of an issuer. While it does not answer, the keys that it had go on: a person who is signed in need not notice.
 * A key that it takes away is gone when the keys are read again.
 */
function createRemoteKeys(options: ExternalIssuer) {
  const { issuer, keysLastMs = 600_000, cooldownMs = 10_000, timeoutMs = 5000 } = options;
  let found: Promise<Places> | undefined;
  let set: RemoteSet | undefined;
  let [epoch, known, triedAt] = [0, '', Number.NEGATIVE_INFINITY];

  const places = (): Promise<Places> => {
    found ??= discover(options).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };

  const open = async (): Promise<RemoteSet> => {
    set ??= createRemoteJWKSet((await places()).keys, {
      timeoutDuration: timeoutMs,
      [customFetch]: fetchThrough(options),
      cooldownDuration: cooldownMs,
      cacheMaxAge: Number.POSITIVE_INFINITY,
    });
    return set;
  };

  const renew = async (keys: RemoteSet): Promise<void> => {
    if (performance.now() - triedAt < keysLastMs) return;
    // Requests that arrive during the fetch use the known keys.
    triedAt = performance.now();
    await keys.reload().catch((error: unknown) => {
      triedAt += cooldownMs - keysLastMs;
      if (keys.jwks() === undefined) throw error;
    });
  };

  const note = (keys: RemoteSet): void => {
    const text = JSON.stringify(keys.jwks());
    if (text !== known) epoch++;
    known = text;
  };

  const find: JWTVerifyGetKey = async (header, token) => {
    try {
      const keys = await open();
      await renew(keys);
      const key = await keys(header, token).finally(() => note(keys));
      return key;
    } catch (error) {
      throw isAway(error) ? away(issuer, error) : error;
    }
  };
  return { find, places, epoch: () => epoch };
}

/** Reads where the issuer has its keys. Throws `Unavailable`. */
async function discover(options: ExternalIssuer): Promise<Places> {
  const { issuer } = options;
  const document = await readJson(new URL(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`), options);
  if (document['issuer'] !== issuer)
    throw away(issuer, new Error(`its discovery document is that of ${JSON.stringify(document['issuer'])}`));
  const keys = placeIn(document, 'jwks_uri', issuer);
  if (keys === undefined) throw away(issuer, new Error('its discovery document names no usable `jwks_uri`'));
  return { keys, userinfo: placeIn(document, 'userinfo_endpoint', issuer) };
}

/** An address of the issuer; one that is reached safely names no others. */
function placeIn(document: JsonObject, name: string, issuer: string): URL | undefined {
  const url = URL.parse(String(document[name]));
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return undefined;
  return issuer.startsWith('https:') && url.protocol !== 'https:' ? undefined : url;
}

/** How much an issuer may answer. */
const mostBytes = 1_000_000;

/** Reads an object. A token may not permit that, which is no failure. */
async function readJson(
  url: URL,
  { issuer, outbound, timeoutMs = 5000 }: ExternalIssuer,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  try {
    const asked = { url, headers: { accept: 'application/json', ...headers }, timeoutMs, maxBytes: mostBytes };
    const { status, body } = await outbound.send('sign_in', { ...asked, namedBy: 'operator' });
    const isGood = status >= 200 && status < 300;
    if (!isGood && status < 500 && 'authorization' in headers) return {};
    if (!isGood) throw new Error(`${url.href} answers ${status}`);
    const value = parseJson(body.toString('utf8'));
    if (!isObject(value)) throw new Error(`${url.href} answers no JSON object`);
    return value;
  } catch (error) {
    throw away(issuer, error);
  }
}

/** Fetches keys the way everything else of an issuer is fetched. */
function fetchThrough({ outbound, timeoutMs = 5000 }: ExternalIssuer): FetchImplementation {
  return async (url, { headers }) => {
    const asked = { url: new URL(url), headers: Object.fromEntries(headers), timeoutMs, maxBytes: mostBytes };
    const { status, body } = await outbound.send('sign_in', { ...asked, namedBy: 'operator' });
    return new Response(new Uint8Array(body), { status });
  };
}

const awayCodes = ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'];

/** Connections that fail, answers that are late, and answers that are no keys. */
function isAway(error: unknown): boolean {
  if (error instanceof OutboundFailure || error instanceof TypeError) return true;
  return awayCodes.includes(codeOf(error) ?? '');
}

function away(issuer: string, cause: unknown): Unavailable {
  if (cause instanceof Unavailable) return cause;
  const reason = cause instanceof Error ? cause.message : '';
  return new Unavailable(
    `the identity provider ${issuer} gives no keys to check tokens with (${reason || 'it does not answer'}); try again, or use a personal access token`,
    { cause },
  );
}
