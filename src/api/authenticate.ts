import type { FastifyReply, FastifyRequest } from 'fastify';
import { TokenLookUpRequired } from '../commit/batch.ts';
import { planOnlyRefusal } from '../commit/commit.ts';
import type { Call, Engine } from '../commit/engine.ts';
import type { Snapshots } from '../commit/snapshots.ts';
import { enterTenant } from '../features/accounts/tenants/scope.ts';
import type { Authenticator } from '../features/auth/authenticate.ts';
import { newAccountChoice } from '../features/auth/sign-in.ts';
import type { Operation } from '../model/declare/roles.ts';
import { NotAllowed, Unavailable } from '../model/errors.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { requireRight } from '../plan/checks/authorize.ts';
import { queryOf } from './input/address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Caller of the request. Set before the handler runs, except on open routes and on routes of the operator. */
    call: Call | undefined;
    /** Looks the caller up. Set while `call` has a cached token that was not checked. */
    lookUpCaller: (() => Promise<Call>) | undefined;
  }
  interface FastifyContextConfig {
    /** Whether the route needs no credentials. Such a route is in the list of open routes. */
    open?: boolean;
    /** Right that a caller needs. `anyone`: no right, because the route is about the callers themselves. */
    access?: RequiredAccess;
    /** The route concerns the whole server, and is for its operator, who belongs to no account. It has no `call`. */
    server?: true;
    /** The route writes nothing except plans, whatever its method. */
    plans?: true;
    /** The route starts an action, whatever its method. */
    starts?: true;
    /**
     * The handler runs its write with `writeAsCaller`, and determines everything that depends on the state of the
     * account while the write is planned. Its callers need not be looked up first: the commit checks their tokens.
     */
    checksTokenAtCommit?: true;
  }
}

/** Right that a route requires. `own`: callers without the right may call the route, and see only their own objects. */
export type RequiredAccess = 'anyone' | { readonly module: string; readonly operation: Operation; readonly own?: true };

/**
 * Authenticates every request except those to open routes, and checks the caller's rights. Unknown paths were refused
 * before.
 */
export function createAuthHook(authenticator: Authenticator, engine: Engine) {
  return async (request: FastifyRequest): Promise<void> => {
    const { open, server } = request.routeOptions.config;
    if (open === true || request.refused !== undefined) return;
    if (server === true) {
      await authenticator.requireOperator(request.headers.authorization);
      request.byOperator = true;
      return;
    }
    if (maySkipLookUp(request)) {
      const { authorization } = request.headers;
      request.call = await authenticator.authenticateFromCache(authorization, (call, state) =>
        requireAccessIn(state, request, call),
      );
    }
    if (request.call === undefined) request.call = await authorize(request, authenticator, engine);
    else {
      const { cachedToken } = request.call;
      request.lookUpCaller = () => {
        cachedToken?.onLookUp();
        return authorize(request, authenticator, engine);
      };
    }
  };
}

/**
 * Maximum length of a body in bytes with which a request may be planned twice, before and after the look-up of its
 * caller. For longer ones a look-up takes little of the time anyway.
 */
const maxBodyToPlanTwice = 16 * 1024;

/**
 * Whether a request may begin with a token in memory. Repeated requests, calls about tenants and translated bodies need
 * the newest state before the handler.
 */
function maySkipLookUp(request: FastifyRequest): boolean {
  if (request.routeOptions.config.checksTokenAtCommit !== true) return false;
  const { 'idempotency-key': key, 'transfer-encoding': encoding, 'content-length': length = '0' } = request.headers;
  if (key !== undefined || encoding !== undefined || Number(length) > maxBodyToPlanTwice) return false;
  return request.profile === 'specification' && queryOf(request)['account'] === undefined;
}

/**
 * Runs the write of a route with `checksTokenAtCommit`. When the caller was not looked up and the plan or the commit did
 * not lead to a change, looks the caller up and runs the write again. Before the write is planned, `write` may depend
 * on nothing but the request.
 */
export async function writeAsCaller<Written>(
  request: FastifyRequest,
  write: (call: Call) => Promise<Written>,
): Promise<Written> {
  if (request.lookUpCaller === undefined) return write(callOf(request));
  try {
    const written = await write(callOf(request));
    request.lookUpCaller = undefined;
    return written;
  } catch (error) {
    if (!(error instanceof TokenLookUpRequired)) throw error;
    return await write(await lookUpCaller(request));
  }
}

/** Error handler of the server. */
type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Returns the error handler with a look-up of the caller before it, if the caller was not looked up: only callers with
 * valid credentials learn what is wrong with their requests. Does not ask a database that is unavailable.
 */
export function withLookUpFirst(handle: ErrorHandler) {
  return async (failure: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const isDue = request.lookUpCaller !== undefined && !(failure instanceof Unavailable);
    const refusal = isDue
      ? await lookUpCaller(request).then(
          () => undefined,
          (error: unknown) => error,
        )
      : undefined;
    // The refused caller must not learn when the token's user may send the next request.
    if (refusal !== undefined) void reply.removeHeader('retry-after');
    handle(refusal ?? failure, request, reply);
    return reply;
  };
}

/** Looks up the caller of a request with a cached token. */
async function lookUpCaller(request: FastifyRequest): Promise<Call> {
  const lookUp = request.lookUpCaller;
  request.call = undefined;
  request.lookUpCaller = undefined;
  request.call = await lookUp?.();
  return callOf(request);
}

/**
 * Returns the caller of a request. Throws `NotAllowed` when the caller may not use its route. Long-running requests
 * call it again before they continue.
 */
export async function authorize(request: FastifyRequest, authenticator: Authenticator, engine: Engine): Promise<Call> {
  const { account } = queryOf(request);
  const call = await scopeToAccount(
    request,
    engine,
    await authenticator.authenticate(request.headers.authorization, account),
  );
  if (call.planOnly === true && !isReading(request)) throw new NotAllowed(planOnlyRefusal);
  await requireAccess(request, call, engine.snapshots);
  return call;
}

/** Returns the call in the account that the query names: the caller's own account, or a tenant of it. */
export async function scopeToAccount({ query }: FastifyRequest, engine: Engine, call: Call): Promise<Call> {
  const { account } = query as { readonly account?: unknown };
  const isOwn = account === undefined || account === '' || account === newAccountChoice || account === call.account;
  if (isOwn) return call;
  return await enterTenant(engine, call, String(account));
}

/** Returns the call of an authenticated request. Throws when the route runs without authentication. */
export function callOf(request: FastifyRequest): Call {
  if (request.call === undefined) throw new Error(`the route ${request.routeOptions.url} runs without authentication`);
  return request.call;
}

function isReading({ method, routeOptions }: FastifyRequest): boolean {
  const { plans, starts } = routeOptions.config;
  return (['GET', 'HEAD'].includes(method) && starts !== true) || plans === true;
}

async function requireAccess(request: FastifyRequest, call: Call, snapshots: Snapshots): Promise<void> {
  if (accessOf(request) === 'anyone') return;
  requireAccessIn(await snapshots.atLeast(call.account, call.revision), request, call);
}

function requireAccessIn(state: Snapshot, request: FastifyRequest, call: Call): void {
  const access = accessOf(request);
  if (access !== 'anyone' && access.own !== true) requireRight(state, call.actor, access.module, access.operation);
}

function accessOf({ method, routeOptions }: FastifyRequest): RequiredAccess {
  return routeOptions.config.access ?? defaultAccess(method);
}

/** Returns the right for routes that declare none: it is a right to the configuration as a whole. */
function defaultAccess(method: string): RequiredAccess {
  return { module: 'config', operation: ['GET', 'HEAD'].includes(method) ? 'read' : 'update' };
}
