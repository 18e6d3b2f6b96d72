import type { FastifyInstance } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import type { JsonObject } from '../lib/json.ts';
import { accessiblePeers } from './routes/accessible-peers.ts';
import { audit } from './routes/audit.ts';
import { events } from './routes/events.ts';
import { integrations } from './routes/integrations.ts';
import { notifications } from './routes/notifications.ts';
import { schemas } from './routes/schemas.ts';
import { tenants } from './routes/tenants.ts';
import { tokens } from './routes/tokens.ts';
import { users } from './routes/users.ts';

/** Routes that no declaration of a kind describes, with their OpenAPI path items. */
export interface AreaRoutes {
  add(app: FastifyInstance, engine: Engine): void;
  /** Path items by path, as in an OpenAPI document. */
  readonly paths: JsonObject;
}

/** All areas with routes of their own. */
export const areas: readonly AreaRoutes[] = [
  accessiblePeers,
  audit,
  events,
  integrations,
  notifications,
  schemas,
  tenants,
  tokens,
  users,
];
