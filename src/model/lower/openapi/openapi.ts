import { asObject, asObjectOrEmpty, asTexts, type JsonObject } from '../../../lib/json.ts';
import { runToEnd } from '../../../lib/steps.ts';
import type { Registry } from '../../declare/registry.ts';
import type { Edition } from '../../edition.ts';
import { errorResponses, errorSchemas, securitySchemes, sharedHeaders, sharedParameters } from './components.ts';
import { nameInnerSchemas } from './inner-schemas.ts';
import { kindPaths, kindSchemas } from './routes.ts';
import { withAccountParameter, withQueryFaults, withWriteResponses } from './writes.ts';

/** Inputs of an OpenAPI document. */
export interface OpenApiOptions {
  /** Release version of the server. */
  readonly version: string;
  /** Path items of operations that do not belong to a kind. */
  readonly extraPaths?: JsonObject;
  /** Schemas that `extraPaths` refer to. */
  readonly extraSchemas?: JsonObject;
  /** Edition to describe. Features of the hosted edition are omitted from the other one. */
  readonly edition: Edition;
}

/** Returns the OpenAPI 3.1 document of the whole API. */
export function lowerToOpenApi(registry: Registry, options: OpenApiOptions): JsonObject {
  return runToEnd(lowerToOpenApiInSteps(registry, options));
}

/** Same as `lowerToOpenApi`, but yields at regular intervals. */
export function* lowerToOpenApiInSteps(
  registry: Registry,
  { version, extraPaths = {}, extraSchemas = {}, edition }: OpenApiOptions,
): Generator<undefined, JsonObject> {
  const own = yield* kindPaths(registry, edition);
  const paths = withQueryFaults(withAccountParameter(withWriteResponses(mergePaths(own, extraPaths))));
  yield undefined;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heddle',
      version,
      description: 'Objects of a private mesh network account, and the documents that declare their desired state.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ Token: [] }, { Bearer: [] }],
    tags: tagsOf(paths).map((name) => ({ name })),
    paths,
    components: {
      schemas: nameInnerSchemas({ ...kindSchemas(registry, edition), ...extraSchemas, ...errorSchemas }),
      responses: errorResponses,
      parameters: sharedParameters,
      headers: sharedHeaders,
      securitySchemes,
    },
  };
}

/**
 * Adds the extra operations to those of the kinds. Operations share a path item when their paths differ at most in the
 * names of parameters, because OpenAPI forbids two such paths. The parameters keep the names of the first path.
 */
function mergePaths(paths: JsonObject, extra: JsonObject): JsonObject {
  const merged = new Map(
    Object.entries(paths).map(([path, item]) => [templateOf(path), { path, item: asObject(item) }]),
  );
  for (const [path, item] of Object.entries(extra)) {
    const known = merged.get(templateOf(path));
    const parameters = known?.item['parameters'] ?? asObject(item)['parameters'];
    const joined = { ...known?.item, ...asObject(item), ...(parameters === undefined ? {} : { parameters }) };
    merged.set(templateOf(path), { path: known?.path ?? path, item: joined });
  }
  return Object.fromEntries([...merged.values()].map(({ path, item }) => [path, item]));
}

function templateOf(path: string): string {
  return path.replace(/\{[^}]*\}/g, '{}');
}

function tagsOf(paths: JsonObject): readonly string[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(asObject(item)));
  const tags = operations.flatMap((operation) => asTexts(asObjectOrEmpty(operation)['tags'] ?? []));
  return [...new Set(tags)].sort();
}
