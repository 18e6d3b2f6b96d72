import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Engine } from '../commit/engine.ts';
import type { Reader } from '../documents/reader.ts';
import type { Authenticator } from '../features/auth/authenticate.ts';
import { createLocalPeople, type LocalPeople } from '../features/auth/local-people.ts';
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
import { plainRules, type SourceRules } from '../features/sources/source-admin.ts';
import { Unavailable } from '../model/errors.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import { type AccessLine, addAccessLog } from './access-log.ts';
import { addEtags } from './answers/etags.ts';
import { sendInParts, sliceLongAnswers } from './answers/long-answers.ts';
import { areas, type Services } from './area-routes.ts';
import { createAuthHook } from './authenticate.ts';
import { refuseBrokenRequests, refuseMissingHosts } from './broken-requests.ts';
import { type Describe, describeApi, openOperations } from './description.ts';
import { drainConnections } from './drain.ts';
import { createErrorHandler } from './errors.ts';
import { addHeaders, exposedHeaders, placeOf, requestId } from './headers.ts';
import { addIdempotency } from './idempotency.ts';
import { addIdentityProvider } from './identity-provider.ts';
import { guardAddresses } from './input/address.ts';
import { acceptJson, refuseOtherCharsets } from './input/bodies.ts';
import { createParameterIndex } from './input/parameter-index.ts';
import { addKindRoutes, type Makers } from './kind-routes.ts';
import { addMetrics } from './metrics/metrics.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { paceMachines } from './pace.ts';
import { translateAnswers, translateRequests } from './profile/bodies.ts';
import { chooseProfile, isTranslated, type ProfileSettings, routing, specified } from './profile/profile.ts';
import {
  createAddressLimit,
  createFailureLimit,
  createPlanLimit,
  createRateLimit,
  limitAnonymous,
} from './rate-limit.ts';
import { refuseUnknown, refuseUnknownPaths } from './refusals.ts';
import { addScim, scimRoutes } from './scim.ts';

/** What the HTTP interface is built from. */
export interface ApiOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly authenticator: Authenticator;
  /** What agents talk to; absent: one that knows no places. */
  readonly peering?: Peering;
  /** Called when peers connect and disconnect; absent: not needed. */
  readonly connectionTracker?: ConnectionListener;
  /** For how many days logs are kept: nothing older is taken. */
  readonly feedDays?: FeedRetention;
  readonly version: string;
  /** Paths among `/metrics` and `/api/openapi.json` that answer without credentials. */
  readonly openEndpoints: readonly string[];
  readonly rateLimit?: RateLimit | 'off';
  /** Of one account, what makes a plan. */
  readonly planRateLimit?: RateLimit | 'off';
  /** How many tenants of an account may wait for the proof of their domain; absent: 50. */
  readonly pendingTenants?: number;
  /** How people come in; absent: without a mail server. */
  readonly localPeople?: LocalPeople;
  /** Of one address, on what is open to strangers. */
  readonly anonymousRateLimit?: RateLimit;
  /** What is allowed about sources; absent: nothing runs them here. */
  readonly sources?: SourceRules;
  /** Opens the targets of channels; absent: nothing is sent. */
  readonly openTarget?: OpenTarget;
  /** Syncs a directory; absent: none is read here. */
  readonly requestSync?: RequestSync;
  /** Knows the cities of countries; absent: none are known. */
  readonly cities?: Cities | undefined;
  /** Origins whose pages may call the interface; absent: all, since nothing here goes by cookies. */
  readonly corsOrigins?: CorsOrigins;
  /** Proxies whose word about addresses counts: how many, or which. */
  readonly trustProxy?: TrustedProxies;
  /** The form in which clients speak; absent: as it is specified. */
  readonly profile?: ProfileSettings;
  /** Whether clients come by https only. */
  readonly https?: boolean;
  /** Signs people in; absent: only others do. */
  readonly identityProvider?: IdentityProvider | undefined;
  /** Called when a request is over; absent: nothing is logged about requests. */
  logAccess?(line: AccessLine): void;
  /** Called with defects; the caller of the API only sees a 500. */
  report(error: unknown, place: string): void;
}

/** `*`, a list of origins, or none at all. */
export type CorsOrigins = '*' | readonly string[];

/** So many proxies in front, or those at these addresses. */
export type TrustedProxies = number | readonly string[];

/** No id is longer, in characters. */
const maxParamLength = 500;

/** Builds the HTTP interface without listening. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { engine, version, profile = specified, logAccess = () => undefined } = options;
  const planLimit = createPlanLimit(options.planRateLimit ?? 'off');
  const broken = refuseBrokenRequests(logAccess);
  const app = Fastify({
    logger: false,
    bodyLimit: 1024 * 1024,
    trustProxy: trusted(options.trustProxy),
    genReqId: requestId,
    ...routing(profile),
    routerOptions: { maxParamLength },
    forceCloseConnections: 'idle',
    requestTimeout: 120_000,
    // Node would answer with no body at all.
    http: { requireHostHeader: false },
    // Stopping waits for all requests in progress, the last ones included.
    return503OnClosing: false,
    ...broken.handlers,
  });
  broken.watch(app);
  addAccessLog(app, logAccess, engine.tracer);
  addHeaders(app, { https: options.https ?? false });
  chooseProfile(app, profile);
  const refuseOthers = refuseOtherMethods(app, maxParamLength);
  refuseMissingHosts(app);
  await app.register(cors, corsOptions(options.corsOrigins ?? '*'));
  openListedRoutes(app, options.openEndpoints);
  drainConnections(app);
  app.decorateRequest('call', undefined);
  const report = (error: unknown, request: FastifyRequest) => options.report(error, placeOf(request));
  const limited = options.rateLimit === 'off' ? undefined : options.rateLimit;
  app.setErrorHandler(createErrorHandler(report, limited && createFailureLimit(limited)));
  refuseUnknownPaths(app);
  refuseOtherCharsets(app);
  const { edition } = engine.planEnvironment;
  const describe: Describe = (as = 'specification') => describeApi(engine.registry, { version, edition, profile: as });
  guardAddresses(app, createParameterIndex(describe), refuseUnknown);
  paceMachines(app);
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
  const people = options.localPeople ?? createLocalPeople();
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

/** The kinds for whose objects more has to happen than that they are stored. */
function makersOf(engine: Engine, people: LocalPeople): Makers {
  return {
    ProxyDomain: (call, body, write) => createDomain(engine, call, body, write),
    User: (call, body, write) => createUser(engine, people, call, body, write),
  };
}

/** What areas need beside the engine. */
function servicesOf(options: ApiOptions, people: LocalPeople): Omit<Services, 'planLimit' | 'describe'> {
  const {
    engine,
    reader,
    version,
    authenticator,
    sources = plainRules,
    openTarget = () => undefined,
    requestSync = async () => ({ result: 'this server reads no directories' }),
    peering = plainPeering(engine),
    connectionTracker = noListener,
    report,
  } = options;
  const { pendingTenants = 50, cities } = options;
  const failed = (error: unknown): void => {
    // While the store is away connected peers stay, and are sent changes when it is back.
    if (!(error instanceof Unavailable)) report(error, 'the streams of peers');
  };
  return {
    ...{ authenticator, peering, people, pendingTenants, reader, version, sources, openTarget, requestSync, cities },
    anonymous: createAddressLimit(options.anonymousRateLimit ?? { perMinute: 10, burst: 5 }),
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
  // Preflights are answered, everything else with OPTIONS is a method like any other.
  return {
    ...{ origin: origins === '*' ? '*' : [...origins], methods, exposedHeaders, maxAge: 7200 },
    ...{ strictPreflight: false, preflightContinue: false },
  };
}

/** Which proxies to trust for the address of a client, by address and distance; the server itself is at 0. */
function trusted(proxies: TrustedProxies | undefined) {
  if (proxies === undefined || proxies === 0) return false;
  return typeof proxies === 'number' ? (_address: string, distance: number) => distance < proxies : [...proxies];
}

/**
 * Every route that wants none of the account's credentials, and what guards it instead. A route is open because its
 * declaration says so or because it stands here, and for no other reason.
 */
export const openRoutes: Readonly<Record<string, string>> = {
  ...openOperations,
  ...scimRoutes,
  'GET /oidc/me': 'wants a token of the identity provider itself',
  'GET /oidc/*': 'is how programs get people signed in; OpenID Connect says what guards each step',
  'POST /oidc/*': 'is how programs get people signed in; OpenID Connect says what guards each step',
  'POST /oidc/token/revocation': 'wants the token that it takes back, and the program to which it was given',
  'GET /signin/account': 'wants the session of a browser that signed in',
  'POST /signin/account': 'wants that session and a form that was shown in it',
  'GET /signin/:uid': 'wants the cookie of the sign-in, and asks who it is',
  'POST /signin/:uid': 'wants that cookie and a form that was shown with it; guesses are slowed down',
};

/** Routes that configuration may open. */
const openable: Readonly<Record<string, string>> = {
  'GET /metrics': '/metrics',
  'GET /docs': '/docs',
  'GET /api/openapi.json': '/api/openapi.json',
};

/** Opens the routes that are in the list, and of those that configuration may open the ones that it names. */
export function openListedRoutes(app: FastifyInstance, opened: readonly string[]): void {
  app.addHook('onRoute', (route) => {
    const names = [route.method].flat().map((method) => `${method === 'HEAD' ? 'GET' : method} ${route.url}`);
    const isListed = names.every((name) => name in openRoutes || opened.includes(openable[name] ?? ''));
    if (isListed) route.config = { ...route.config, open: true };
    else if (route.config?.open === true && route.config.refuses === undefined)
      throw new Error(`${names.join(', ')} is open but not in the list of open routes; say there what guards it`);
  });
}
