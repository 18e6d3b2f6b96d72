import type { JsonObject } from '../../src/lib/json.ts';

const text = { type: 'string' };
const whole = { type: 'integer' };
const texts = { type: 'object', additionalProperties: text };

/**
 * Stand-ins for third-party custom resource definitions, with the members that charts and examples use and their
 * published types. With strict validation, an API server refuses every other member and type, which reveals misspelled
 * members.
 */
export const standIns: readonly JsonObject[] = [
  definition('monitoring.coreos.com', 'v1', 'ServiceMonitor', {
    selector: object({ matchLabels: texts }),
    endpoints: list(
      object({
        port: text,
        path: text,
        interval: text,
        authorization: object({ type: text, credentials: object({ name: text, key: text }, ['key']) }),
      }),
    ),
  }),
  definition('monitoring.coreos.com', 'v1', 'PrometheusRule', {
    groups: list(
      object(
        {
          name: text,
          rules: list(object({ alert: text, expr: text, for: text, labels: texts, annotations: texts }, ['expr'])),
        },
        ['name'],
      ),
    ),
  }),
  definition('gateway.networking.k8s.io', 'v1', 'HTTPRoute', {
    parentRefs: list(object({ group: text, kind: text, name: text, namespace: text, sectionName: text }, ['name'])),
    hostnames: list(text),
    rules: list(
      object({
        matches: list(object({ path: object({ type: text, value: text }) })),
        filters: list(
          object(
            {
              type: text,
              responseHeaderModifier: object({ set: list(object({ name: text, value: text }, ['name', 'value'])) }),
            },
            ['type'],
          ),
        ),
        backendRefs: list(
          object({ group: text, kind: text, name: text, namespace: text, port: whole, weight: whole }, ['name']),
        ),
        timeouts: object({ request: text, backendRequest: text }),
      }),
    ),
  }),
  definition('postgresql.cnpg.io', 'v1', 'Cluster', {
    instances: whole,
    imageName: text,
    storage: object({ size: text, storageClass: text }),
    bootstrap: object({
      initdb: object({ database: text, owner: text, postInitApplicationSQL: list(text) }),
    }),
    postgresql: object({ parameters: texts, pg_hba: list(text) }),
  }),
];

function list(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

function definition(group: string, version: string, kind: string, spec: JsonObject): JsonObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  const schema = { openAPIV3Schema: object({ spec: object(spec) }) };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      // API groups that end in k8s.io are reserved for Kubernetes; the API server requires this annotation about their
      // approval.
      ...(group.endsWith('k8s.io') ? { annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } } : {}),
    },
    spec: {
      group,
      names: { kind, plural, singular },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}
