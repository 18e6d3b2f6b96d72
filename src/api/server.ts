import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Engine } from '../commit/engine.ts';
import type { Reader } from '../documents/reader.ts';
import type { Authenticator } from '../features/auth/authenticate.ts';
import { createLocalSignIn, type LocalSignIn } from '../features/auth/local-people.ts';
import { createUser } from '../features/auth/new-user.ts';
import type { IdentityProvider } from '../features/auth/provider/provider.ts';
import type { RequestSync } from '../features/integrations/directory/dispatcher.ts';
import type { OpenTarget } from '../features/integrations/targets.ts';
import { createFeeds } from '../features/logs/feeds.ts';
import type { FeedRetention } from '../features/logs/maintenance.ts';
import type { Cities } from '../features/peers/cities.ts';
import { createPeering, type Peering } from '../features/peers/peering.ts';
import { type ConnectionListener, createHub } from '../features/peers/streams/hub.ts';
import { createDomain } from '../features/proxy/domains/domains.ts';
import { defaultRules, type SourceRules } from '../features/sources/source-admin.ts';
import { Unavailable } from '../model/errors.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import { type AccessLine, addAccessLog } from './access-log.ts';
import { addEtags } from './answers/etags.ts';
import { sendInParts, sliceLongAnswers } from './answers/long-answers.ts';
import { areas, type Services } from './area-routes.ts';
import { createAuthHook, withLookUpFirst } from './authenticate.ts';
import { createBrokenRequestHandlers, refuseBadHosts } from './broken-requests.ts';
import { type Describe, describeApi, openOperations } from './description.ts';
import { drainConnections } from './drain.ts';
import { createErrorHandler } from './errors.ts';
import { addHeaders, describeRequest, exposedHeaders, requestId } from './headers.ts';
import { addIdempotency } from './idempotency.ts';
import { addIdentityProvider } from './identity-provider.ts';
import { guardUrls } from './input/address.ts';
import { acceptJson, refuseOtherCharsets } from './input/bodies.ts';
import { createParameterIndex } from './input/parameter-index.ts';
import { addKindRoutes, type Makers } from './kind-routes.ts';
import { addMetrics } from './metrics/metrics.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { paceAgents } from './pace.ts';
import { translateAnswers, translateRequests } from './profile/bodies.ts';
import {
  chooseProfile,
  defaultProfileSettings,
  isTranslated,
  type ProfileSettings,
  routing,
} from './profile/profile.ts';
import {
  createAddressLimit,
  createFailureLimit,
  createPlanLimit,
  createRateLimit,
  limitAnonymous,
} from './rate-limit.ts';
import { refuseUnknown, refuseUnknownPaths } from './refusals.ts';
import { addScim, scimRoutes } from './scim.ts';

/** Services and settings of the HTTP interface. */
export interface ApiOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly authenticator: Authenticator;
  /** Service for agents. Absent: one that does not locate addresses. */
  readonly peering?: Peering;
  /** Called when peers connect and disconnect. Absent: connections are not tracked. */
  readonly connectionTracker?: ConnectionListener;
  /** Number of days for which logs are kept. Older records are not accepted. */
  readonly feedDays?: FeedRetention;
  readonly version: string;
  /** Paths that answer without credentials, out of `/metrics`, `/docs` and `/api/openapi.json`. */
  readonly openEndpoints: readonly string[];
  readonly rateLimit?: RateLimit | 'off';
  /** Rate limit per account for requests that make a plan. */
  readonly planRateLimit?: RateLimit | 'off';
  /** Maximum number of tenants of an account whose domain is not proven yet. Absent: 50. */
  readonly pendingTenants?: number;
  /** Admission of people. Absent: works without a mail server. */
  readonly localPeople?: LocalSignIn;
  /** Rate limit per address on routes that are open to strangers. */
  readonly anonymousRateLimit?: RateLimit;
  /** Rules for sources. Absent: this server runs no sources. */
  readonly sources?: SourceRules;
  /** Opens the targets of channels. Absent: nothing is sent. */
  readonly openTarget?: OpenTarget;
  /** Syncs a directory. Absent: this server reads no directories. */
  readonly requestSync?: RequestSync;
  /** Returns the cities of a country. Absent: no location database is configured. */
  readonly cities?: Cities | undefined;
  /**
   * Origins whose pages may call the interface. Absent: all, because the interface does not authenticate with cookies.
   */
  readonly corsOrigins?: CorsOrigins;
  /** Trusted reverse proxies: their number, or their addresses. Their `X-Forwarded-For` header is believed. */
  readonly trustProxy?: TrustedProxies;
  /** Profile of requests and answers. Absent: the specification. */
  readonly profile?: ProfileSettings;
  /** Whether clients reach the server over https only. */
  readonly https?: boolean;
  /** Embedded identity provider. Absent: people sign in at other identity providers only. */
  readonly identityProvider?: IdentityProvider | undefined;
  /** Called when a request has ended. Absent: requests are not logged. */
  logAccess?(line: AccessLine): void;
  /** Whether `logAccess` is called for lines of the level `debug`. Absent: it is. */
  readonly logsDebug?: boolean;
  /** Called with defects of the program. The API caller only gets a 500. */
  report(error: unknown, operation: string): void;
}

/** All origins (`*`), or a list of origins. An empty list allows none. */
export type CorsOrigins = '*' | readonly string[];

/** Number of reverse proxies in front of this server, or their addresses. */
export type TrustedProxies = number | readonly string[];

/** Maximum length of a path parameter, in characters. No id is longer. */
const maxParamLength = 500;

/** Builds the HTTP interface without listening. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { engine, version, profile = defaultProfileSettings, logAccess = () => undefined } = options;
  const planLimit = createPlanLimit(options.planRateLimit ?? 'off');
  const broken = createBrokenRequestHandlers(logAccess);
  const app = Fastify({
    logger: false,
    bodyLimit: 1024 * 1024,
    trustProxy: trusted(options.trustProxy),
    genReqId: requestId,
    ...routing(profile),
    routerOptions: { maxParamLength },
    forceCloseConnections: 'idle',
    requestTimeout: 120_000,
    // Node would answer a missing `Host` without a body; `refuseBadHosts` answers it instead.
    http: { requireHostHeader: false },
    // A stopping server waits for all requests in progress, including the last ones to arrive.
    return503OnClosing: false,
    ...broken.handlers,
  });
  broken.watch(app);
  addAccessLog(app, { write: logAccess, includesDebug: options.logsDebug ?? true }, engine.tracer);
  addHeaders(app, { https: options.https ?? false });
  chooseProfile(app, profile);
  const refuseOthers = refuseOtherMethods(app, maxParamLength);
  refuseBadHosts(app);
  await app.register(cors, corsOptions(options.corsOrigins ?? '*'));
  openListedRoutes(app, options.openEndpoints);
  drainConnections(app);
  app.decorateRequest('call', undefined);
  app.decorateRequest('lookUpCaller', undefined);
  const report = (error: unknown, request: FastifyRequest) => options.report(error, describeRequest(request));
  const limited = options.rateLimit === 'off' ? undefined : options.rateLimit;
  app.setErrorHandler(withLookUpFirst(createErrorHandler(report, limited && createFailureLimit(limited))));
  refuseUnknownPaths(app);
  refuseOtherCharsets(app);
  const { edition } = engine.planEnvironment;
  const describe: Describe = (as = 'specification') => describeApi(engine.registry, { version, edition, profile: as });
  guardUrls(app, createParameterIndex(describe), refuseUnknown);
  paceAgents(app);
  const authenticate = createAuthHook(options.authenticator, engine);
  app.addHook('onRequest', limited === undefined ? authenticate : limitAnonymous(limited, authenticate));
  if (limited !== undefined) app.addHook('onRequest', createRateLimit(limited));
  sliceLongAnswers(app);
  addEtags(app);
  addIdempotency(app, engine, report);
  if (isTranslated(profile)) {
    translateRequests(app, engine, describe);
    translateAnswers(app, describe);
  }
  sendInParts(app);
  acceptJson(app);
  addMetrics(app, engine, { version });
  const people = options.localPeople ?? createLocalSignIn();
  addKindRoutes(app, engine, makersOf(engine, people));
  const services = { ...servicesOf(options, people), planLimit, describe };
  app.addHook('onClose', () => services.feeds.close());
  for (const area of areas) await area.add(app, engine, services);
  await addScim(app, engine, { publicUrl: people.publicUrl, report });
  if (options.identityProvider !== undefined) await addIdentityProvider(app, options.identityProvider);
  refuseOthers();
  await app.ready();
  return app;
}

/** Returns the functions that create objects of kinds for which storing the object is not enough. */
function makersOf(engine: Engine, people: LocalSignIn): Makers {
  return {
    ProxyDomain: (call, body, write) => createDomain(engine, call, body, write),
    User: (call, body, write) => createUser(engine, people, call, body, write),
  };
}

/** Returns the services that areas need in addition to the engine. */
function servicesOf(options: ApiOptions, people: LocalSignIn): Omit<Services, 'planLimit' | 'describe'> {
  const {
    engine,
    reader,
    version,
    authenticator,
    sources = defaultRules,
    openTarget = () => undefined,
    requestSync = async () => ({ result: 'this server does not sync directories' }),
    peering = plainPeering(engine),
    connectionTracker = noListener,
    report,
  } = options;
  const { pendingTenants = 50, cities } = options;
  const failed = (error: unknown): void => {
    // While the database is away, connected peers stay connected, and receive the changes when it is back.
    if (!(error instanceof Unavailable)) report(error, 'the streams of peers');
  };
  return {
    ...{ authenticator, peering, people, pendingTenants, reader, version, sources, openTarget, requestSync, cities },
    anonymousLimit: createAddressLimit(options.anonymousRateLimit ?? { perMinute: 10, burst: 5 }),
    hub: createHub({ engine, listener: connectionTracker, now: Date.now, failed }),
    feeds: createFeeds(engine, options.feedDays ?? { proxy: 30, traffic: 30 }),
  };
}

const noListener: ConnectionListener = { connected: () => undefined, gone: () => undefined };

function plainPeering(engine: Engine): Peering {
  return createPeering({ engine, now: Date.now, locate: () => ({}) });
}

function corsOptions(origins: CorsOrigins) {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
  // Preflights are answered here. Any other OPTIONS request is treated like other methods.
  return {
    ...{ origin: origins === '*' ? '*' : [...origins], methods, exposedHeaders, maxAge: 7200 },
    ...{ strictPreflight: false, preflightContinue: false },
  };
}

/**
 * Returns the proxies that are trusted to name the address of a client, by address or by distance. The connection to
 * this server has distance 0.
 */
function trusted(proxies: TrustedProxies | undefined) {
  if (proxies === undefined || proxies === 0) return false;
  return typeof proxies === 'number' ? (_address: string, distance: number) => distance < proxies : [...proxies];
}

/**
 * All routes that do not need credentials of the account, and what protects each of them instead. A route is open only
 * because its declaration states it or because it is listed here.
 */
export const openRoutes: Readonly<Record<string, string>> = {
  ...openOperations,
  ...scimRoutes,
  'GET /oidc/me': 'requires a token of the identity provider itself',
  'GET /oidc/*': 'is used to sign in users of other programs; OpenID Connect defines the protection of each step',
  'POST /oidc/*': 'is used to sign in users of other programs; OpenID Connect defines the protection of each step',
  'POST /oidc/token/revocation': 'requires the token to revoke, and the client to which it was issued',
  'GET /signin/account': 'requires the session of a browser that signed in',
  'POST /signin/account': 'requires that session and a form that was shown in it',
  'GET /signin/:uid': 'requires the cookie of the sign-in, and asks for the identity of the user',
  'POST /signin/:uid': 'requires that cookie and a form that was shown with it; guesses are slowed down',
};

/** Routes that the configuration may open, with the paths that it names. */
const openable: Readonly<Record<string, string>> = {
  'GET /metrics': '/metrics',
  'GET /docs': '/docs',
  'GET /api/openapi.json': '/api/openapi.json',
};

/**
 * Opens the listed routes, and those openable routes that the configuration names. Throws when any other route is open.
 */
export function openListedRoutes(app: FastifyInstance, opened: readonly string[]): void {
  app.addHook('onRoute', (route) => {
    const names = [route.method].flat().map((method) => `${method === 'HEAD' ? 'GET' : method} ${route.url}`);
    const isListed = names.every((name) => name in openRoutes || opened.includes(openable[name] ?? ''));
    if (isListed) route.config = { ...route.config, open: true };
    else if (route.config?.open === true && route.config.refuses === undefined)
      throw new Error(
        `${names.join(', ')} is open but not in the list of open routes; add it there, with its protection`,
      );
  });
}
