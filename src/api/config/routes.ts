import type { FastifyInstance, FastifyRequest } from 'fastify';
import { textOfBody } from '../input/utf8.ts';
import { addArchiveRoutes } from './archive-routes.ts';
import { addExportRoutes } from './export-routes.ts';
import { bodyLimit, type ConfigRoutesOptions } from './options.ts';
import { addPlanRoutes } from './plan-routes.ts';
import { addTestRoutes } from './test-routes.ts';
import { addWebhookRoute } from './webhook-route.ts';

const yamlTypes = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml', 'text/plain'];

/** The routes by which documents are validated, planned, applied and exported. */
export async function addConfigRoutes(app: FastifyInstance, options: ConfigRoutesOptions): Promise<void> {
  app.addContentTypeParser(
    yamlTypes,
    { parseAs: 'buffer', bodyLimit },
    async (_request: FastifyRequest, body: Buffer) => ({
      files: [{ path: '-', text: textOfBody(body) }],
    }),
  );
  addPlanRoutes(app, options);
  addExportRoutes(app, options);
  // Hints are signed as they were sent, byte by byte.
  await app.register(async (scope) => addWebhookRoute(scope, options));
  // Archives are no documents: nothing else takes their content types.
  await app.register(async (scope) => addArchiveRoutes(scope, options));
  addTestRoutes(app, options);
}
