import type { IncomingMessage } from 'node:http';
import Provider, { errors } from 'oidc-provider';
import type { ProviderParts } from './configuration.ts';
import { issuerOf } from './token-words.ts';

type Middleware = Parameters<Provider['use']>[0];
type Context = Parameters<Middleware>[0];
type Next = Parameters<Middleware>[1];

/** Where browsers may be sent with a form too (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2). */
const formPaths = ['/auth', '/session/end'];

/** A form becomes an address, and addresses have an end. */
const longestForm = 12 * 1024;

/** Does what the standards ask for and `oidc-provider` does not do. */
export function conform(
  provider: Provider,
  { publicUrl, mayPoll }: Pick<ProviderParts, 'publicUrl' | 'mayPoll'>,
): void {
  const issuer = issuerOf(publicUrl);
  provider.use((ctx, next) => takeForms(issuer, ctx, next));
  provider.use((ctx, next) => beginSessions(provider, issuer, ctx, next));
  letRefreshRepeatOffline(provider);
  slowDevicesDown(provider, mayPoll);
}

/** The provider takes forms only with cookies that every page may send along; as an address they come with ours. */
async function takeForms(issuer: string, ctx: Context, next: Next): Promise<void> {
  if (ctx.method !== 'POST' || !formPaths.includes(ctx.path)) return await next();
  const form = await readForm(ctx.req);
  if (form === undefined) {
    ctx.status = 413;
    ctx.body = { error: 'invalid_request', error_description: `the form is longer than ${longestForm} bytes` };
    return;
  }
  ctx.status = 303;
  ctx.redirect(`${issuer}${ctx.path}?${new URLSearchParams(form)}`);
}

async function readForm(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    // A request without an encoding gives bytes.
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > longestForm) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The page for the code of a device begins a session; a request for a later page without one is redirected there. */
async function beginSessions(provider: Provider, issuer: string, ctx: Context, next: Next): Promise<void> {
  const [, first, second] = ctx.path.split('/');
  const isBehindThePage = ctx.method === 'GET' ? second !== undefined && second !== '' : second !== 'auth';
  if (first?.toLowerCase() !== 'device' || !isBehindThePage) return await next();
  const session = await provider.Session.get(ctx);
  if (session.exp !== undefined) return await next();
  ctx.status = 303;
  ctx.redirect(`${issuer}/device`);
}

/**
 * Every refresh token is what `offline_access` asks for, though a sign-in without `prompt=consent` leaves the word out of
 * what it grants: programs repeat what they asked for (RFC 6749, 6).
 */
function letRefreshRepeatOffline({ RefreshToken }: Provider): void {
  Object.defineProperty(RefreshToken.prototype, 'scopes', {
    get(this: { readonly scope?: string }) {
      return new Set([...(this.scope ?? '').split(' ').filter((word) => word !== ''), 'offline_access']);
    },
  });
}

/** A device that polls too often before its code was entered gets `slow_down` (RFC 8628, 3.5). */
function slowDevicesDown({ DeviceCode }: Provider, mayPoll: (code: string) => Promise<boolean>): void {
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
