import type { FastifyInstance } from 'fastify';
import { addArchiveRoutes } from './archive-routes.ts';
import { addExportRoutes } from './export-routes.ts';
import type { ConfigRoutesOptions } from './options.ts';
import { addWebhookRoute } from './webhook-route.ts';

/** The routes by which documents are validated, planned, applied and exported. */
export async function addConfigRoutes(app: FastifyInstance, options: ConfigRoutesOptions): Promise<void> {
  addExportRoutes(app, options);
  // Hints are signed as they were sent, byte by byte.
  await app.register(async (scope) => addWebhookRoute(scope, options));
  // Archives are no documents: nothing else takes their content types.
  await app.register(async (scope) => addArchiveRoutes(scope, options));
}
