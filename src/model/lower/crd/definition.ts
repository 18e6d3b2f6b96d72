import type { Json, JsonObject } from '../../../lib/json.ts';
import { apiVersion } from '../../document.ts';
import { pluralOf } from './names.ts';

/** The parts in which Heddle's CustomResourceDefinitions differ. */
export interface DefinitionParts {
  readonly kind: string;
  readonly shortName?: string | undefined;
  /** Columns of `kubectl get`. Columns with a priority appear only with `-o wide`. */
  readonly columns: readonly JsonObject[];
  readonly schema: JsonObject;
}

const [group = '', version = ''] = apiVersion.split('/');

/** Returns a CustomResourceDefinition of Heddle's API group, for a namespaced resource with a status subresource. */
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

/** Returns the JSON path of the status or message of a condition. */
export function conditionPath(type: string, member: 'status' | 'message'): string {
  return `.status.conditions[?(@.type=="${type}")].${member}`;
}

/** Column with the age of a resource. Always the last column without a priority. */
export const ageColumn: JsonObject = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Returns the schema of one of the server's own resources. */
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

/** Helpers for the schema of a spec or a status. Each field has a description. */
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
  /** A list that is always replaced as a whole. */
  list: (description: string, maxItems: number, items: Json): JsonObject => ({
    ...{ type: 'array', description, maxItems, items },
    'x-kubernetes-list-type': 'atomic',
  }),
} as const;
