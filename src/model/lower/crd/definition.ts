import type { Json, JsonObject } from '../../../lib/json.ts';
import { apiVersion } from '../../document.ts';
import { pluralOf } from './names.ts';

/** What differs between our CustomResourceDefinitions. */
export interface DefinitionParts {
  readonly kind: string;
  readonly shortName?: string | undefined;
  /** What `kubectl get` shows, and with `-o wide` what has a priority. */
  readonly columns: readonly JsonObject[];
  readonly schema: JsonObject;
}

const [group = '', version = ''] = apiVersion.split('/');

/** A CustomResourceDefinition of our group: of resources in namespaces, with a status that is written apart. */
export function definitionOf({ kind, shortName, columns, schema }: DefinitionParts): JsonObject {
  const names = {
    kind,
    listKind: `${kind}List`,
    plural: pluralOf(kind),
    singular: kind.toLowerCase(),
    ...(shortName === undefined ? {} : { shortNames: [shortName] }),
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
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

/** Where a column finds the status or the message of a condition. */
export function conditionPath(type: string, member: 'status' | 'message'): string {
  return `.status.conditions[?(@.type=="${type}")].${member}`;
}

/** When a resource was made, as the last column. */
export const ageColumn: JsonObject = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** The schema of a resource of ours. */
export function resourceSchema(description: string, spec: JsonObject, status: JsonObject): JsonObject {
  return {
    type: 'object',
    description,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec,
      status,
    },
  };
}

/** Fields of a status or a spec, each with a sentence. */
export const field = {
  text: (description: string, more: JsonObject = {}): JsonObject => ({ type: 'string', description, ...more }),
  number: (description: string): JsonObject => ({ type: 'integer', format: 'int64', description }),
  time: (description: string): JsonObject => ({ type: 'string', format: 'date-time', description }),
  object: (description: string, properties: JsonObject, required: readonly string[] = []): JsonObject => ({
    type: 'object',
    description,
    ...(required.length === 0 ? {} : { required }),
    properties,
  }),
  /** A list that is replaced as a whole. */
  list: (description: string, maxItems: number, items: Json): JsonObject => ({
    ...{ type: 'array', description, maxItems, items },
    'x-kubernetes-list-type': 'atomic',
  }),
} as const;
