import type { IncomingMessage } from 'node:http';
import Provider, { errors } from 'oidc-provider';
import { clientNetworkOf } from '../../../lib/net/address.ts';
import { shortenMissing } from '../../../model/quote.ts';
import type { ProviderOptions } from './configuration.ts';
import { issuerOf } from './token-words.ts';

type Middleware = Parameters<Provider['use']>[0];
type Context = Parameters<Middleware>[0];
type Next = Parameters<Middleware>[1];

/** Paths to which browsers may also be sent with a form (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2). */
const formPaths = ['/auth', '/session/end'];

/** Maximum length of a form, in bytes. The form is turned into an address, whose length is limited. */
const maxFormBytes = 12 * 1024;

/** Adds what the standards require and `oidc-provider` lacks. */
export function makeConformant(
  provider: Provider,
  { publicUrl, mayPoll, takeDeviceTurn }: Pick<ProviderOptions, 'publicUrl' | 'mayPoll' | 'takeDeviceTurn'>,
): void {
  const issuer = issuerOf(publicUrl);
  provider.use(describeMissing);
  provider.use((ctx, next) => limitDeviceRequests(takeDeviceTurn, ctx, next));
  provider.use((ctx, next) => redirectForms(issuer, ctx, next));
  provider.use((ctx, next) => requireDeviceSession(provider, issuer, ctx, next));
  allowOfflineScopeOnRefresh(provider);
  enforcePollInterval(provider, mayPoll);
}

/** Answers unknown paths as the API does. The provider would answer with a plain text. */
async function describeMissing(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.status !== 404 || (ctx.body ?? undefined) !== undefined) return;
  ctx.status = 404;
  ctx.body = { message: shortenMissing(`${ctx.method} /oidc${ctx.path} not found`), code: 404 };
}

/**
 * Redirects a form to the same path, with its fields in the query. The provider accepts forms only with cookies that
 * browsers send from every site. With a redirect, browsers send our cookies.
 */
async function redirectForms(issuer: string, ctx: Context, next: Next): Promise<void> {
  if (ctx.method !== 'POST' || !formPaths.includes(ctx.path)) return await next();
  const form = await readForm(ctx.req);
  if (form === undefined) {
    ctx.status = 413;
    ctx.body = { error: 'invalid_request', error_description: `the form is longer than ${maxFormBytes} bytes` };
    return;
  }
  ctx.status = 303;
  ctx.redirect(`${issuer}${ctx.path}?${new URLSearchParams(form)}`);
}

async function readForm(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    // Without an encoding, the request yields bytes.
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > maxFormBytes) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Limits the device sign-ins that an address begins, because each of them is stored although nobody has signed in. The
 * path is compared as the router of the provider does: without regard to letter case, and with a slash at the end.
 */
async function limitDeviceRequests(
  takeTurn: ProviderOptions['takeDeviceTurn'],
  ctx: Context,
  next: Next,
): Promise<void> {
  if (ctx.method !== 'POST' || !/^\/device\/auth\/?$/i.test(ctx.path)) return await next();
  const seconds = takeTurn(clientNetworkOf(ctx.ip));
  if (seconds === 0) return await next();
  ctx.status = 429;
  ctx.set('retry-after', String(seconds));
  const why = `too many device sign-ins were begun from this address; try again in ${seconds} s`;
  ctx.body = { error: 'temporarily_unavailable', error_description: why };
}

/**
 * The page where the code of a device is entered begins a session. A request for a later page without a session is
 * redirected to that page.
 */
async function requireDeviceSession(provider: Provider, issuer: string, ctx: Context, next: Next): Promise<void> {
  const [, first, second] = ctx.path.split('/');
  const isBehindThePage = ctx.method === 'GET' ? second !== undefined && second !== '' : second !== 'auth';
  if (first?.toLowerCase() !== 'device' || !isBehindThePage) return await next();
  const session = await provider.Session.get(ctx);
  if (session.exp !== undefined) return await next();
  ctx.status = 303;
  ctx.redirect(`${issuer}/device`);
}

/**
 * Adds `offline_access` to the scopes of every refresh token. A sign-in without `prompt=consent` leaves that scope out
 * of its grant, but programs repeat the scopes that they requested (RFC 6749, 6).
 */
function allowOfflineScopeOnRefresh({ RefreshToken }: Provider): void {
  Object.defineProperty(RefreshToken.prototype, 'scopes', {
    get(this: { readonly scope?: string }) {
      return new Set([...(this.scope ?? '').split(' ').filter((word) => word !== ''), 'offline_access']);
    },
  });
}

/** A device that polls too often before its code was entered gets `slow_down` (RFC 8628, 3.5). */
function enforcePollInterval({ DeviceCode }: Provider, mayPoll: (code: string) => Promise<boolean>): void {
  const { find } = DeviceCode;
  const findInTurn = async (value: string, options?: object) => {
    const code = await find.call<
      typeof DeviceCode,
      Parameters<typeof find>,
      Promise<InstanceType<typeof DeviceCode> | undefined>
    >(DeviceCode, value, options);
    if (code === undefined || Provider.ctx?.oidc.route !== 'token') return code;
    const isPending = code.accountId === undefined && code.error === undefined && !code.isExpired;
    if (isPending && !(await mayPoll(value))) throw new errors.SlowDown('ask every 5 seconds');
    return code;
  };
  Object.defineProperty(DeviceCode, 'find', { value: findInTurn });
}
