import { createHash, randomBytes } from 'node:crypto';
import { isObject } from '../../lib/json.ts';
import { Internal, Unauthenticated, Unavailable } from '../../model/errors.ts';
import type { Login } from './store.ts';

/** OAuth client id of this program. */
const clientId = 'heddle-cli';
const scope = 'openid profile email';
const requestTimeoutMs = 20_000;

/** Endpoints of a server's identity provider. */
export interface OAuthEndpoints {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  readonly device: string;
  readonly revocation: string | undefined;
}

/**
 * Returns the endpoints at which a server signs users in. Throws `Unauthenticated` when the server does not do so
 * itself.
 */
export async function discoverEndpoints(server: string): Promise<OAuthEndpoints> {
  const { status, body } = await send(server, `${server}/oidc/.well-known/openid-configuration`);
  if (status === 404)
    throw new Unauthenticated(
      `The server at ${server} does not sign users in itself; make a token where you manage your account, and pass it with --token or HEDDLE_TOKEN.`,
    );
  const endpoint = (name: string) => {
    const url = URL.parse(String(body[name]));
    if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url.href;
    throw new Internal(`The server at ${server} is not a Heddle server; name yours with --server.`);
  };
  if (status !== 200) endpoint('');
  return {
    issuer: String(body['issuer']),
    authorization: endpoint('authorization_endpoint'),
    token: endpoint('token_endpoint'),
    device: endpoint('device_authorization_endpoint'),
    revocation: body['revocation_endpoint'] === undefined ? undefined : endpoint('revocation_endpoint'),
  };
}

/**
 * Starts a sign-in by browser. Returns the URL to open, and the PKCE verifier and state that later prove where it was
 * started.
 */
export function beginSignIn(endpoints: OAuthEndpoints, redirectUri: string) {
  const [verifier, state] = [randomBytes(32).toString('base64url'), randomBytes(16).toString('base64url')];
  const url = new URL(endpoints.authorization);
  const query = {
    ...{ client_id: clientId, response_type: 'code', scope, state, redirect_uri: redirectUri },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { url: url.href, verifier, state };
}

/** Answer of the token endpoint: a login with its tokens, or an OAuth error. */
export type TokenAnswer =
  | { readonly ok: true; readonly login: Login }
  | { readonly ok: false; readonly error: string; readonly description: string };

/** Exchanges a grant for tokens at the token endpoint. Throws `Unavailable` when the server fails or is too busy. */
export async function getTokens(
  { token, revocation }: Pick<OAuthEndpoints, 'token' | 'revocation'>,
  grant: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  const sentAt = Date.now();
  const { status, body } = await post(token, grant);
  // These statuses do not mean that the grant is invalid.
  if (status >= 500 || status === 429)
    throw new Unavailable(`The server at ${new URL(token).origin} answered ${status}; try again in a moment.`);
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : '');
  if (text('access_token') === '')
    return { ok: false, error: text('error') || 'no tokens', description: text('error_description') };
  const login: Login = {
    email: emailIn(text('id_token')),
    tokenEndpoint: token,
    revocationEndpoint: revocation,
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    expiresAt: sentAt + Number(body['expires_in'] ?? 0) * 1000,
  };
  return { ok: true, login };
}

/** Renews a login with its refresh token. */
export async function renew({ tokenEndpoint, revocationEndpoint, refreshToken, email }: Login): Promise<TokenAnswer> {
  const endpoints = { token: tokenEndpoint, revocation: revocationEndpoint };
  const answer = await getTokens(endpoints, { grant_type: 'refresh_token', refresh_token: refreshToken });
  return answer.ok ? { ok: true, login: { ...answer.login, email: answer.login.email || email } } : answer;
}

/** Revokes a login. Returns `false` when the server cannot be reached or refuses. */
export async function revoke({ revocationEndpoint, refreshToken }: Login): Promise<boolean> {
  if (revocationEndpoint === undefined) return false;
  const answer = await post(revocationEndpoint, { token: refreshToken }).catch(() => undefined);
  return answer?.status === 200;
}

/** Answer of the device authorization endpoint: a code that the user enters on any machine. */
export interface DeviceCode {
  readonly code: string;
  readonly userCode: string;
  readonly address: string;
  readonly completeAddress: string;
  readonly pollIntervalSeconds: number;
  readonly lifetimeSeconds: number;
}

/** Requests a device code. */
export async function requestDeviceCode({ device }: OAuthEndpoints): Promise<DeviceCode> {
  const { status, body } = await post(device, { scope });
  const why = String(body['error_description'] ?? body['error']);
  if (status === 429) throw new Unavailable(`The server issued no code for this device: ${why}.`);
  if (status !== 200) throw new Internal(`The server issued no code for this device (${why}).`);
  const address = String(body['verification_uri']);
  return {
    ...{ code: String(body['device_code']), userCode: String(body['user_code']), address },
    completeAddress: String(body['verification_uri_complete'] ?? address),
    pollIntervalSeconds: Number(body['interval'] ?? 5),
    lifetimeSeconds: Number(body['expires_in'] ?? 600),
  };
}

/**
 * Returns the e-mail address in an id token. The signature is not verified, because the token came directly from the
 * server.
 */
function emailIn(idToken: string): string {
  try {
    const claims: unknown = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
    return isObject(claims) && typeof claims['email'] === 'string' ? claims['email'] : '';
  } catch {
    return '';
  }
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

function post(url: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
  return send(url, url, { method: 'POST', body: new URLSearchParams({ client_id: clientId, ...fields }) });
}

async function send(server: string, url: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { accept: 'application/json' };
  const signal = AbortSignal.timeout(requestTimeoutMs);
  try {
    const answer = await fetch(url, { redirect: 'error', headers, signal, ...init });
    const text = await answer.text();
    return { status: answer.status, body: parse(text) };
  } catch (cause) {
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : String(cause);
    throw new Unavailable(`No server answers at ${new URL(server).origin} (${reason}); name yours with --server.`, {
      cause,
    });
  }
}

function parse(text: string): Answer['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    // The answer of a revocation has no body, and a program other than Heddle may answer anything.
    return {};
  }
}
