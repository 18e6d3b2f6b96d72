import { isObject } from '../../../lib/json.ts';
import { type AskVendor, CredentialsRefused, type VendorRequest } from './http.ts';
import { VendorFailure } from './vendor.ts';

/** URL and form of a request for a token (OAuth 2.0 client credentials). */
export interface ClientCredentials {
  readonly url: URL;
  readonly form: Readonly<Record<string, string>>;
}

/** Time before its end at which a token is renewed, in milliseconds. */
const marginMs = 60_000;
/** Lifetime of a token when the answer does not state it, in seconds. */
const defaultLifetimeSeconds = 600;
/** Maximum size of an answer with a token, in bytes. */
const maxResponseBytes = 64 * 1024;

/**
 * Returns a function that sends requests with a token. The token is requested when it is first needed, and again before
 * it ends. A token that is refused, because it was revoked, is replaced once.
 */
export function withToken(ask: AskVendor, credentials: ClientCredentials, now: () => number): AskVendor {
  let token: { readonly text: string; readonly until: number } | undefined;
  const authorized = async (request: VendorRequest): Promise<VendorRequest> => {
    if (token === undefined || token.until <= now()) token = await requestToken(ask, credentials, now);
    return { ...request, headers: { ...request.headers, authorization: `Bearer ${token.text}` } };
  };
  return async (request) => {
    const first = await authorized(request);
    try {
      return await ask(first);
    } catch (error) {
      if (!(error instanceof CredentialsRefused)) throw error;
      // When several requests are refused together, only the first one discards the token.
      if (first.headers?.['authorization'] === `Bearer ${token?.text}`) token = undefined;
      return ask(await authorized(request));
    }
  };
}

async function requestToken(ask: AskVendor, { url, form }: ClientCredentials, now: () => number) {
  const { status, body } = await ask({
    ...{
      url,
      method: 'POST',
      body: new URLSearchParams(form).toString(),
      accepts: [400, 401, 403],
      maxBytes: maxResponseBytes,
    },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const members = isObject(body) ? body : {};
  const { access_token: text, expires_in: seconds } = members;
  if (status >= 400) {
    const message = refusalText(url.host, status, members['error']);
    // Other refusals concern the address or the permission.
    const isCredential = status === 401 || members['error'] === 'invalid_client';
    throw isCredential ? new CredentialsRefused(message) : new VendorFailure(message);
  }
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
    throw new VendorFailure(`${url.host} answers a token request without a token`);
  const lasts = typeof seconds === 'number' && seconds > 0 ? seconds : defaultLifetimeSeconds;
  return { text, until: now() + Math.max(lasts * 1000 - marginMs, (lasts * 1000) / 2) };
}

/**
 * Returns the message of a refusal. Error codes are a few known words. A longer text could contain what was sent, so it
 * is not shown.
 */
function refusalText(host: string, status: number, error: unknown): string {
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : '';
  return `${host} grants no token: it answers ${status}${code}; see whether the client and its secret are right and still valid`;
}
