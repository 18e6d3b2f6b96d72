import type { FastifyRequest } from 'fastify';
import { planOnlyRefusal } from '../commit/commit.ts';
import type { Call, Engine } from '../commit/engine.ts';
import type { Snapshots } from '../commit/snapshots.ts';
import { enterTenant } from '../features/accounts/tenants/scope.ts';
import type { Authenticator } from '../features/auth/authenticate.ts';
import { newAccountChoice } from '../features/auth/sign-in.ts';
import type { Operation } from '../model/declare/roles.ts';
import { NotAllowed } from '../model/errors.ts';
import { requireRight } from '../plan/checks/authorize.ts';
import { queryOf } from './input/address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Caller of the request. Set before the handler runs, except on open routes and on routes of the operator. */
    call: Call | undefined;
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
    } else request.call = await authorize(request, authenticator, engine);
  };
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
  const { access = defaultAccess(request.method) } = request.routeOptions.config;
  if (access === 'anyone') return;
  const state = await snapshots.atLeast(call.account, call.revision);
  if (access.own !== true) requireRight(state, call.actor, access.module, access.operation);
}

/** Returns the right for routes that declare none: it is a right to the configuration as a whole. */
function defaultAccess(method: string): RequiredAccess {
  return { module: 'config', operation: ['GET', 'HEAD'].includes(method) ? 'read' : 'update' };
}
