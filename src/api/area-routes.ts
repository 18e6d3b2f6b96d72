import type { FastifyInstance } from 'fastify';
import type { Engine } from '../commit/engine.ts';
import type { Reader } from '../documents/reader.ts';
import type { Authenticator } from '../features/auth/authenticate.ts';
import type { LocalSignIn } from '../features/auth/local-people.ts';
import type { RequestSync } from '../features/integrations/directory/dispatcher.ts';
import type { OpenTarget } from '../features/integrations/targets.ts';
import type { Feeds } from '../features/logs/feeds.ts';
import type { Cities } from '../features/peers/cities.ts';
import type { Peering } from '../features/peers/peering.ts';
import type { Hub } from '../features/peers/streams/hub.ts';
import type { SourceRules } from '../features/sources/source-admin.ts';
import type { Operation } from '../model/operation/operation.ts';
import { access } from './config/access-routes.ts';
import { archive } from './config/archive-routes.ts';
import { deliveries } from './config/delivery-routes.ts';
import { documents } from './config/document-routes.ts';
import { drift } from './config/drift-routes.ts';
import { endpointSecurity } from './config/endpoint-security-routes.ts';
import { objects } from './config/object-routes.ts';
import { overrides } from './config/override-routes.ts';
import { plans } from './config/plan-routes.ts';
import { revisions } from './config/revision-routes.ts';
import { sources } from './config/source-routes.ts';
import { status } from './config/status-routes.ts';
import { webhook } from './config/webhook-routes.ts';
import type { Describe } from './description.ts';
import { otherReads } from './profile/other-reads.ts';
import type { Limiter } from './rate-limit.ts';
import { accessiblePeers } from './routes/accessible-peers.ts';
import { accounts } from './routes/accounts.ts';
import { agent } from './routes/agent.ts';
import { agentStream } from './routes/agent-stream.ts';
import { audit } from './routes/audit.ts';
import { events } from './routes/events.ts';
import { instance } from './routes/instance.ts';
import { integrations } from './routes/integrations.ts';
import { invitePage } from './routes/invite-page.ts';
import { invites } from './routes/invites.ts';
import { networkTraffic } from './routes/network-traffic.ts';
import { notifications } from './routes/notifications.ts';
import { proxy } from './routes/proxy.ts';
import { proxyDomains } from './routes/proxy-domains.ts';
import { proxyEvents } from './routes/proxy-events.ts';
import { proxyTokens } from './routes/proxy-tokens.ts';
import { schemas } from './routes/schemas.ts';
import { server } from './routes/server.ts';
import { temporaryAccess } from './routes/temporary-access.ts';
import { tenants } from './routes/tenants.ts';
import { tokens } from './routes/tokens.ts';
import { users } from './routes/users.ts';

/** Services that areas need in addition to the engine. */
export interface Services {
  readonly authenticator: Authenticator;
  readonly peering: Peering;
  readonly people: LocalSignIn;
  /** Maximum number of tenants of an account whose domain is not proven yet. */
  readonly pendingTenants: number;
  /** Limits the rate of callers without credentials. */
  readonly anonymousLimit: Limiter;
  /** Connected peers. */
  readonly hub: Hub;
  readonly feeds: Feeds;
  /** Reads documents from the files of a request. */
  readonly reader: Reader;
  /** Version of the server. */
  readonly version: string;
  readonly sources: SourceRules;
  /** Returns the cities of a country. Absent: no location database is configured. */
  readonly cities: Cities | undefined;
  /** Opens the target of a channel, to send a sample to it. */
  readonly openTarget: OpenTarget;
  /** Requests a sync of a directory. */
  readonly requestSync: RequestSync;
  /** Limits the rate of requests that make a plan. Runs before them. */
  readonly planLimit: Limiter;
  /** Returns the OpenAPI document of the interface in a profile. */
  readonly describe: Describe;
}

/** Routes that do not belong to kinds, with their declarations. */
export interface AreaRoutes {
  /** Adds the routes. The result must be awaited, because an area may register a scope. */
  add(app: FastifyInstance, engine: Engine, services: Services): unknown;
  readonly operations: readonly Operation[];
}

/** All areas that have routes. */
export const areas: readonly AreaRoutes[] = [
  access,
  accessiblePeers,
  accounts,
  agent,
  agentStream,
  archive,
  audit,
  deliveries,
  documents,
  drift,
  endpointSecurity,
  events,
  instance,
  integrations,
  invitePage,
  invites,
  networkTraffic,
  notifications,
  objects,
  otherReads,
  overrides,
  plans,
  proxy,
  proxyDomains,
  proxyEvents,
  proxyTokens,
  revisions,
  schemas,
  server,
  sources,
  status,
  temporaryAccess,
  tenants,
  tokens,
  users,
  webhook,
];
