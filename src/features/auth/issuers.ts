import { createRemoteJWKSet, customFetch, type FetchImplementation, type JWTVerifyGetKey } from 'jose';
import { codeOf } from '../../lib/error-code.ts';
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';
import { OutboundFailure } from '../../outbound/failure.ts';
import type { Outbound } from '../../outbound/outbound.ts';

/** Names of the claims by which an issuer describes a person. */
export interface ClaimNames {
  readonly user: string;
  readonly email: string;
  readonly name: string;
  readonly domain: string;
}

/** Names of the claims in OpenID Connect. */
export const standardClaims: ClaimNames = { user: 'sub', email: 'email', name: 'name', domain: 'hd' };

/** An issuer whose tokens this server accepts. */
export interface Issuer {
  /** `embedded`: this server itself, whose `sub` is the id of a user. */
  readonly kind: 'embedded' | 'external';
  /** Exact value of the claim `iss`. */
  readonly issuer: string;
  /** Accepted audiences. The claim `aud` must contain one of them. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  /** Finds the key of a token. Throws `Unavailable` when the keys cannot be fetched. */
  readonly keys: JWTVerifyGetKey;
  /** Returns a number that changes whenever the keys change. Cached tokens are then verified again. */
  readonly epoch: () => number;
  readonly claims: ClaimNames;
  /** Whether every e-mail address counts as verified, even when the token does not state that it is. */
  readonly trustsEmail: boolean;
  /** Fetches further claims of the person to whom a token belongs. Called once, at the first sign-in. */
  fetchUserInfo?(token: string): Promise<JsonObject>;
}

/** Accepted signature algorithms: those that require a private key. */
const signatureAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Settings of an external issuer. */
export interface ExternalIssuer {
  readonly issuer: string;
  /** Sends the requests to the issuer. */
  readonly outbound: Pick<Outbound, 'send'>;
  readonly audience: readonly string[];
  readonly algorithms?: readonly string[];
  readonly claims?: Partial<ClaimNames>;
  readonly trustsEmail?: boolean;
  /**
   * In milliseconds: how long fetched keys are used (`maxKeyAgeMs`), how soon a missing key is requested again
   * (`cooldownMs`), and how long an answer may take (`timeoutMs`).
   */
  readonly maxKeyAgeMs?: number;
  readonly cooldownMs?: number;
  readonly timeoutMs?: number;
}

/** Creates an issuer that is located by OpenID Connect discovery when its first token arrives. */
export function createExternalIssuer(options: ExternalIssuer): Issuer {
  const { issuer, audience, algorithms = signatureAlgorithms, claims = {}, trustsEmail = false } = options;
  const keys = createRemoteKeys(options);
  return {
    ...{ kind: 'external', issuer, audience, algorithms, trustsEmail },
    claims: { ...standardClaims, ...claims },
    keys: keys.find,
    epoch: keys.epoch,
    async fetchUserInfo(token) {
      const { userinfo } = await keys.discoverUrls();
      return userinfo === undefined ? {} : await readJson(userinfo, options, { authorization: `Bearer ${token}` });
    },
  };
}

interface DiscoveredUrls {
  readonly keys: URL;
  readonly userinfo: URL | undefined;
}

type RemoteSet = ReturnType<typeof createRemoteJWKSet>;

/**
 * Fetches and caches the keys of an issuer. While the issuer does not answer, its known keys stay in use, so that
 * signed-in people notice nothing. A key that the issuer removes is dropped at the next fetch.
 */
function createRemoteKeys(options: ExternalIssuer) {
  const { issuer, maxKeyAgeMs = 600_000, cooldownMs = 10_000, timeoutMs = 5000 } = options;
  let found: Promise<DiscoveredUrls> | undefined;
  let set: RemoteSet | undefined;
  let [epoch, known, triedAt] = [0, '', Number.NEGATIVE_INFINITY];

  const discoverUrls = (): Promise<DiscoveredUrls> => {
    found ??= discover(options).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };

  const open = async (): Promise<RemoteSet> => {
    set ??= createRemoteJWKSet((await discoverUrls()).keys, {
      timeoutDuration: timeoutMs,
      [customFetch]: fetchThrough(options),
      cooldownDuration: cooldownMs,
      cacheMaxAge: Number.POSITIVE_INFINITY,
    });
    return set;
  };

  const renew = async (keys: RemoteSet): Promise<void> => {
    if (performance.now() - triedAt < maxKeyAgeMs) return;
    // Set before the fetch, so that requests that arrive during the fetch use the known keys.
    triedAt = performance.now();
    await keys.reload().catch((error: unknown) => {
      triedAt += cooldownMs - maxKeyAgeMs;
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
      throw isUnavailable(error) ? unavailableError(issuer, error) : error;
    }
  };
  return { find, discoverUrls, epoch: () => epoch };
}

/** Reads the addresses of the issuer's keys and user information. Throws `Unavailable`. */
async function discover(options: ExternalIssuer): Promise<DiscoveredUrls> {
  const { issuer } = options;
  const document = await readJson(new URL(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`), options);
  if (document['issuer'] !== issuer)
    throw unavailableError(
      issuer,
      new Error(`its discovery document names the issuer ${JSON.stringify(document['issuer'])}`),
    );
  const keys = urlIn(document, 'jwks_uri', issuer);
  if (keys === undefined)
    throw unavailableError(issuer, new Error('its discovery document names no usable `jwks_uri`'));
  return { keys, userinfo: urlIn(document, 'userinfo_endpoint', issuer) };
}

/**
 * Returns an address in the issuer's discovery document; `undefined` when it is unusable. An issuer with HTTPS must
 * name only HTTPS addresses.
 */
function urlIn(document: JsonObject, name: string, issuer: string): URL | undefined {
  const url = URL.parse(String(document[name]));
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return undefined;
  return issuer.startsWith('https:') && url.protocol !== 'https:' ? undefined : url;
}

/** Maximum size of an issuer's answer, in bytes. */
const maxResponseBytes = 1_000_000;

/** Reads a JSON object. Returns `{}` when the token does not permit the request, which is not an error. */
async function readJson(
  url: URL,
  { issuer, outbound, timeoutMs = 5000 }: ExternalIssuer,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  try {
    const asked = { url, headers: { accept: 'application/json', ...headers }, timeoutMs, maxBytes: maxResponseBytes };
    const { status, body } = await outbound.send('sign_in', { ...asked, namedBy: 'operator' });
    const isGood = status >= 200 && status < 300;
    if (!isGood && status < 500 && 'authorization' in headers) return {};
    if (!isGood) throw new Error(`${url.href} answers ${status}`);
    const value = parseJson(body.toString('utf8'));
    if (!isObject(value)) throw new Error(`${url.href} answers no JSON object`);
    return value;
  } catch (error) {
    throw unavailableError(issuer, error);
  }
}

/** Fetches keys in the same way as everything else of an issuer. */
function fetchThrough({ outbound, timeoutMs = 5000 }: ExternalIssuer): FetchImplementation {
  return async (url, { headers }) => {
    const asked = { url: new URL(url), headers: Object.fromEntries(headers), timeoutMs, maxBytes: maxResponseBytes };
    const { status, body } = await outbound.send('sign_in', { ...asked, namedBy: 'operator' });
    return new Response(new Uint8Array(body), { status });
  };
}

const unavailableCodes = ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'];

/**
 * Whether an error means that the issuer is unavailable: the connection failed, the answer was late, or it contained no
 * keys.
 */
function isUnavailable(error: unknown): boolean {
  if (error instanceof OutboundFailure || error instanceof TypeError) return true;
  return unavailableCodes.includes(codeOf(error) ?? '');
}

function unavailableError(issuer: string, cause: unknown): Unavailable {
  if (cause instanceof Unavailable) return cause;
  const reason = cause instanceof Error ? cause.message : '';
  return new Unavailable(
    `the identity provider ${issuer} does not provide keys to verify tokens (${reason || 'it does not answer'}); try again, or use a personal access token`,
    { cause },
  );
}
