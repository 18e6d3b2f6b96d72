import { asObject, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import { apiVersion } from '../document.ts';
import { conditionStatuses } from '../sources/status.ts';
import { specSchema } from './shape.ts';

const [group = '', version = ''] = apiVersion.split('/');

/**
 * The CustomResourceDefinition of a kind, its spec identical to the document's. It carries no defaults: a field that
 * the Kubernetes API server fills in would count as stated. What one schema cannot say is left to the plan.
 */
export function lowerToCrd(registry: Registry, kind: Kind): JsonObject {
  if (!kind.document.allowed) throw new Error(`the kind ${kind.name} has no documents: ${kind.document.why}`);
  const names = {
    kind: kind.name,
    listKind: `${kind.name}List`,
    plural: pluralOf(kind.name),
    singular: kind.name.toLowerCase(),
    categories: [group.split('.')[0] ?? group],
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: {
      group,
      names,
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: printerColumns(kind),
          schema: { openAPIV3Schema: resourceSchema(registry, kind) },
        },
      ],
    },
  };
}

/** The plural of a kind as resource names and URLs spell it: `policies`, `setupkeys`, `dnszones`. */
export function pluralOf(name: string): string {
  return pluralWord(name).toLowerCase();
}

/** The plural of a kind in its own spelling: `Policies`, `DNSZones`; settings are many already. */
export function pluralWord(name: string): string {
  if (name.endsWith('Settings')) return name;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}

function printerColumns(kind: Kind): readonly JsonObject[] {
  const named =
    kind.nameField in kind.spec ? [{ name: 'Display Name', type: 'string', jsonPath: `.spec.${kind.nameField}` }] : [];
  return [
    ...named,
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Id', type: 'string', jsonPath: '.status.id', priority: 1 },
    { name: 'Revision', type: 'integer', jsonPath: '.status.revision', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ];
}

function resourceSchema(registry: Registry, kind: Kind): JsonObject {
  const onlyName =
    kind.singleton === undefined ? {} : { properties: { name: { type: 'string', enum: [kind.singleton] } } };
  return {
    type: 'object',
    description: kind.doc,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', ...onlyName },
      spec: {
        description: 'The desired state, as in a document.',
        ...structural(specSchema(registry, kind, 'document')),
      },
      status: statusSchema,
    },
  };
}

const statusSchema: JsonObject = {
  type: 'object',
  description: 'What became of the resource; written by the server.',
  properties: {
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'The generation that the rest of the status is about.',
    },
    id: { type: 'string', description: 'The id of the object in the account.' },
    revision: {
      type: 'integer',
      format: 'int64',
      description: 'The account revision in which the object last changed.',
    },
    conditions: {
      type: 'array',
      description: 'Ready, Drifted, Conflicted and the like.',
      items: {
        type: 'object',
        required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
        properties: {
          type: { type: 'string', maxLength: 316 },
          status: { type: 'string', enum: conditionStatuses },
          observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
          lastTransitionTime: { type: 'string', format: 'date-time' },
          reason: { type: 'string', minLength: 1, maxLength: 1024 },
          message: { type: 'string', maxLength: 32768 },
        },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  },
};

/** The schema under the rules for structural schemas; what `x-ref` and `x-merge` say moves to where Kubernetes looks for it. */
function structural(schema: JsonObject): JsonObject {
  if (schema['x-literal'] === true) return eitherType(schema);
  const result: Record<string, Json> = {};
  const isMixed = 'properties' in schema && isObject(schema['additionalProperties']);
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'x-ref' || keyword === 'x-merge') continue;
    // Declared members beside free ones: what is free is kept, and left to the plan.
    if (keyword === 'additionalProperties' && isMixed) result['x-kubernetes-preserve-unknown-fields'] = true;
    if (keyword === 'additionalProperties' && isMixed) continue;
    // Structural schemas prune what is not declared; saying so beside `properties` is forbidden.
    if (keyword === 'additionalProperties' && value === false) continue;
    result[keyword] =
      keyword === 'properties' ? mapMembers(asObject(value)) : isObject(value) ? structural(value) : value;
  }
  // A secret is named here, never written: one type of the two.
  if (Array.isArray(schema['type'])) Object.assign(result, { type: 'object' });
  return { ...result, ...describedReference(schema), ...listType(schema) };
}

/** A structural schema has one type: what may be a text or name where it comes from is left to the plan. */
function eitherType({ description }: JsonObject): JsonObject {
  return {
    'x-kubernetes-preserve-unknown-fields': true,
    ...(description === undefined ? {} : { description }),
  };
}

function mapMembers(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, structural(asObject(schema))]));
}

function describedReference(schema: JsonObject): JsonObject {
  const { description, 'x-ref': kind } = schema;
  return typeof kind === 'string' && typeof description === 'string'
    ? { description: `${description} Refers to ${kind}.` }
    : {};
}

/** A keyed list is a map only when every entry is sure to have its key; without a word on merging a list is one piece. */
function listType(schema: JsonObject): JsonObject {
  if (schema['type'] === 'object') return schema['x-merge'] === 'atomic' ? { 'x-kubernetes-map-type': 'atomic' } : {};
  if (schema['type'] !== 'array') return {};
  const merge = String(schema['x-merge'] ?? 'atomic');
  const key = /^map\((.+)\)$/.exec(merge)?.[1];
  if (key === undefined) return { 'x-kubernetes-list-type': merge };
  const required = asObject(schema['items'])['required'];
  const isSure = Array.isArray(required) && required.includes(key);
  return isSure
    ? { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] }
    : { 'x-kubernetes-list-type': 'atomic' };
}
