import type { FastifyRequest } from 'fastify';
import { planOnlyRefusal } from '../commit/commit.ts';
import type { Call, Engine } from '../commit/engine.ts';
import type { Snapshots } from '../commit/snapshots.ts';
import { enterTenant } from '../features/accounts/tenants/scope.ts';
import type { Authenticator } from '../features/auth/authenticate.ts';
import { ownAccount } from '../features/auth/sign-in.ts';
import type { Operation } from '../model/declare/roles.ts';
import { NotAllowed } from '../model/errors.ts';
import { requireRight } from '../plan/checks/authorize.ts';
import { queryOf } from './input/address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** On whose behalf the request runs; set before the handler of every route that is neither open nor the operator's. */
    call: Call | undefined;
  }
  interface FastifyContextConfig {
    /** The route wants no credentials: it is in the list of open routes. */
    open?: boolean;
    /** What a caller must be allowed to do. `anyone`: nothing, the route is about the callers themselves. */
    access?: Access;
    /** The route is about the whole server: for its operator, who is in no account. It runs without a call. */
    server?: true;
    /** The route writes nothing but plans, whatever its method. */
    plans?: true;
    /** The route starts something, whatever its method. */
    starts?: true;
  }
}

/** A right that a route asks for. `own`: without it callers still see what is theirs. */
export type Access = 'anyone' | { readonly module: string; readonly operation: Operation; readonly own?: true };

/** Authenticates every request but those of open routes, and asks whether the caller may do it; unknown paths were refused before. */
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

/** On whose behalf a request runs, when they may do what its route does. What lasts asks again before it goes on. */
export async function authorize(request: FastifyRequest, authenticator: Authenticator, engine: Engine): Promise<Call> {
  const { account } = queryOf(request);
  const call = await scoped(request, engine, await authenticator.authenticate(request.headers.authorization, account));
  if (call.planOnly === true && !isReading(request)) throw new NotAllowed(planOnlyRefusal);
  await requireAccess(request, call, engine.snapshots);
  return call;
}

/** The call in the account that the query names: the caller's own, or that of a tenant. */
export async function scoped({ query }: FastifyRequest, engine: Engine, call: Call): Promise<Call> {
  const { account } = query as { readonly account?: unknown };
  const isOwn = account === undefined || account === '' || account === ownAccount || account === call.account;
  if (isOwn) return call;
  return await enterTenant(engine, call, String(account));
}

/** The call of an authenticated request. */
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
  const state = await snapshots.at(call.account, call.revision);
  if (access.own !== true) requireRight(state, call.actor, access.module, access.operation);
}

/** Routes that say nothing are about configuration as a whole. */
function defaultAccess(method: string): Access {
  return { module: 'config', operation: ['GET', 'HEAD'].includes(method) ? 'read' : 'update' };
}
