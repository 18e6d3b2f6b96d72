import type { JsonObject } from '../../lib/json.ts';
import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import { apiVersion, ignoredMembers, ignoredMetadata } from '../document.ts';
import { isSpecOptional, specSchema } from './shape.ts';

const dialect = 'http://json-schema.org/draft-07/schema#';

/**
 * Returns the JSON Schema (draft 7, which editors support) of the documents of one kind. The `x-` keywords tell how
 * units merge.
 */
export function editorSchema(registry: Registry, kind: Kind): JsonObject {
  return { $schema: dialect, title: kind.name, ...documentSchema(registry, kind) };
}

/** Returns the JSON Schema of a document of any kind. `kind` selects the schema of `spec`. */
export function anyDocumentSchema(registry: Registry): JsonObject {
  const kinds = registry.kinds.filter((kind) => kind.document.allowed);
  const choice = kinds.map(({ name }) =>
    conditional({ required: ['kind'], properties: { kind: { const: name } } }, { $ref: `#/definitions/${name}` }),
  );
  return {
    $schema: dialect,
    title: 'Heddle document',
    type: 'object',
    required: ['apiVersion', 'kind'],
    properties: {
      apiVersion: { const: apiVersion },
      kind: {
        enum: [...kinds.map(({ name }) => name), 'List'],
        description: 'Kind of the object that the document describes.',
      },
    },
    allOf: choice,
    definitions: Object.fromEntries(kinds.map((kind) => [kind.name, documentSchema(registry, kind)])),
  };
}

function conditional(condition: JsonObject, then: JsonObject): JsonObject {
  return Object.fromEntries([
    ['if', condition],
    ['then', then],
  ]);
}

function documentSchema(registry: Registry, kind: Kind): JsonObject {
  const spec = specSchema(registry, kind, 'document');
  return {
    type: 'object',
    description: kind.doc,
    additionalProperties: false,
    required: ['apiVersion', 'kind', 'metadata', ...(isSpecOptional(spec) ? [] : ['spec'])],
    properties: {
      apiVersion: { const: apiVersion },
      kind: { const: kind.name },
      metadata: metadataSchema(kind),
      spec,
      ...anything(ignoredMembers),
    },
  };
}

function anything(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, {}]));
}

function metadataSchema({ singleton }: Kind): JsonObject {
  const texts = { type: 'object', additionalProperties: { type: 'string' } };
  const name = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$', maxLength: 253 };
  return {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: {
        ...(singleton === undefined ? name : { const: singleton }),
        description: 'Key of the object: stable, and unique among the documents of the kind. References use it.',
      },
      previousNames: {
        type: 'array',
        items: name,
        description: 'Former keys of the object, so that it keeps its id when its key changes.',
      },
      labels: { ...texts, description: 'Words of your own, by which plans select documents.' },
      annotations: { ...texts, description: 'Instructions such as `heddle.dev/prevent-delete: "true"`.' },
      ...anything(ignoredMetadata),
    },
  };
}
