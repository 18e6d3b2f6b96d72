import type { FastifyInstance } from 'fastify';
import { rotateKeys } from '../../features/auth/provider/keys.ts';
import { rotateSecrets } from '../../features/config/archive/secrets.ts';
import { accountStatus } from '../../features/sources/status.ts';
import { Conflict } from '../../model/errors.ts';
import { callOf } from '../authenticate.ts';
import type { ConfigRoutesOptions } from './options.ts';

/** The routes about the account as a whole. */
export function addStatusRoutes(app: FastifyInstance, { engine, version }: ConfigRoutesOptions): void {
  app.get('/api/config/status', async (request) => accountStatus(engine, callOf(request), version));
  app.post('/api/config/secrets/rotate', { config: { server: true } }, async (request) => {
    const body = (request.body ?? {}) as { readonly acceptUnbound?: unknown };
    return rotateSecrets(engine, { acceptUnbound: body.acceptUnbound === true });
  });
  app.post('/api/config/idp/rotate', { config: { server: true } }, async () => {
    if (!engine.registry.installation.embeddedIdp)
      throw new Conflict(
        'precondition',
        'this server is no identity provider itself (HEDDLE_IDP=off), so it has no keys',
      );
    return { key: await rotateKeys({ database: engine.database, vault: engine.planEnvironment.vault }) };
  });
}
