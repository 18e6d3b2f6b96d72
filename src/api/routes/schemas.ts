import type { Registry } from '../../model/declare/registry.ts';
import { NotFound } from '../../model/errors.ts';
import { anyDocumentSchema, editorSchema } from '../../model/lower/editor.ts';
import { json, operation, pathParameters } from '../../model/lower/openapi/operation.ts';
import { type Answer, makeAnswer, sendAnswer } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';

const path = '/api/config/schemas/:kind';

/** The JSON Schemas of documents, which editors and pipelines may load from the server. */
export const schemas: AreaRoutes = {
  add(app, { registry }) {
    const made = new Map<string, Answer>();
    app.get<{ Params: { readonly kind: string } }>(path, { config: { access: 'anyone' } }, (request, reply) => {
      const { kind } = request.params;
      const answer = made.get(kind) ?? makeAnswer({ version: 0, body: schemaOf(registry, kind) });
      made.set(kind, answer);
      return sendAnswer(request, reply, answer);
    });
  },
  paths: {
    '/api/config/schemas/{kind}': {
      ...pathParameters('/api/config/schemas/{kind}', () => ({
        description: 'A kind that documents may have, or `all`.',
        schema: { type: 'string' },
        example: 'Policy',
      })),
      get: operation({
        id: 'readDocumentSchema',
        tag: 'config',
        summary: 'Read the JSON Schema of the documents of a kind',
        description:
          'Draft 7, for editors. `all` is the schema of every document. The `x-` keywords say how units merge.',
        answer: json({ type: 'object' }, { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Policy' }),
        headers: ['ETag'],
        unchanged: true,
        errors: [401, 403, 404, 429, 503],
      }),
    },
  },
};

function schemaOf(registry: Registry, name: string) {
  if (name === 'all') return anyDocumentSchema(registry);
  const kind = registry.find(name);
  if (kind === undefined || !kind.document.allowed) throw new NotFound(`schema of documents of kind ${name} not found`);
  return editorSchema(registry, kind);
}
