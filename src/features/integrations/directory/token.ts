import { isObject, type Json, parseJson } from '../../../lib/json.ts';
import type { OutboundAnswer } from '../../../outbound/client.ts';
import { parseRetryAfter } from '../deliveries/answer.ts';
import type { ClientOptions } from './client.ts';
import { DirectoryFailure } from './failure.ts';

/** Credentials with which an application signs in. */
export interface Credentials {
  readonly tenant: string;
  readonly clientId: string;
  /** The secret as the directory issued it. */
  readonly secret: string;
}

/** A token, and the time until which it is used, in milliseconds since 1970. */
export interface AccessToken {
  readonly text: string;
  readonly usableUntil: number;
}

/** Time before its end at which a token is no longer used, in milliseconds. */
const marginMs = 60_000;
const defaultLifetimeSeconds = 300;

/** Requests a token with the application's secret (OAuth 2.0 client credentials). Throws `DirectoryFailure`. */
export async function requestToken({ cloud, credentials, send, now }: ClientOptions): Promise<AccessToken> {
  const { tenant, clientId, secret } = credentials;
  if (!/^[\w-]+(\.[\w-]+)*$/.test(tenant))
    throw new DirectoryFailure('refused', `${tenant} is not a valid tenant; write its id or its domain`);
  const url = new URL(`/${tenant}/oauth2/v2.0/token`, cloud.signIn);
  const form = { client_id: clientId, client_secret: secret, grant_type: 'client_credentials' };
  const answer = await send({
    ...{ url, namedBy: cloud.namedBy, method: 'POST', maxBytes: 64 * 1024 },
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...form, scope: `${cloud.api}/.default` }).toString(),
  });
  const body = readObject(answer.body);
  if (answer.status !== 200) throw refusalOf(answer, url.host, body, { tenant, clientId }, now());
  const { access_token: text, expires_in: seconds } = body;
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
    throw new DirectoryFailure('away', `${url.host} answers 200 without a token`);
  const life = typeof seconds === 'number' && seconds > 0 ? seconds : defaultLifetimeSeconds;
  return { text, usableUntil: now() + Math.max(life * 1000 - marginMs, (life * 1000) / 2) };
}

/** Advice on the sign-in errors that a user can fix, by error number. Other errors are shown with their number. */
const advice: Readonly<Record<number, (named: Pick<Credentials, 'tenant' | 'clientId'>) => string>> = {
  7000215: () => 'the client secret is wrong; write its value, not its id, in Base64 into client_secret',
  7000222: () => 'the client secret has expired; make a new one at the directory and write it into client_secret',
  700016: ({ tenant, clientId }) => `the tenant ${tenant} has no application ${clientId}; correct client_id`,
  90002: ({ tenant }) => `there is no tenant ${tenant}; correct tenant_id`,
  900023: ({ tenant }) => `${tenant} is not the name of a tenant; correct tenant_id`,
  7000112: ({ clientId }) => `the application ${clientId} is disabled; enable it at the directory`,
  53003: () => 'a conditional access policy of the tenant blocks the application; exclude the application from it',
};

function refusalOf(
  { status, headers }: OutboundAnswer,
  host: string,
  { error, error_codes: codes }: Readonly<Record<string, Json>>,
  named: Pick<Credentials, 'tenant' | 'clientId'>,
  now: number,
): DirectoryFailure {
  const afterMs = parseRetryAfter(headers['retry-after'], now);
  const later = afterMs === undefined ? {} : { afterMs };
  if (status === 429 || status >= 500) return new DirectoryFailure('away', `${host} answers ${status}`, later);
  const [code] = Array.isArray(codes) ? codes : [];
  const known = typeof code === 'number' && Object.hasOwn(advice, code) ? advice[code]?.(named) : undefined;
  if (known !== undefined) return new DirectoryFailure('refused', known);
  // The error description is not shown, because it may repeat what was sent.
  const word = typeof error === 'string' && /^\w{1,64}$/.test(error) ? error : 'no reason given';
  const number = typeof code === 'number' ? `, AADSTS${code}` : '';
  const message = `${host} refuses the application: ${status} ${word}${number}; see whether tenant_id, client_id and client_secret are right`;
  return new DirectoryFailure('refused', message);
}

/** Returns the JSON object in a body, or an empty object when the body is not a JSON object. */
export function readObject(body: Buffer): Readonly<Record<string, Json>> {
  try {
    const value = parseJson(body.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
