import { asObject, type JsonObject } from '../../../lib/json.ts';
import type { Kind } from '../../declare/kind.ts';
import type { Registry } from '../../declare/registry.ts';
import type { AnyField } from '../../schema/field.ts';
import { isSpecOptional, specSchema } from '../shape.ts';
import { createOnlyRules, withExpressions, withValidations } from './cel.ts';
import { ageColumn, conditionPath, definitionOf } from './definition.ts';
import { statusSchema } from './status.ts';
import { toStructuralSchema } from './structural.ts';

/**
 * Returns the CustomResourceDefinition of a kind, with the same spec as its documents. It has no defaults, because a
 * field that the Kubernetes API server fills in would count as stated. What a schema cannot express is checked by the
 * plan.
 */
export function lowerToCrd(registry: Registry, kind: Kind): JsonObject {
  if (!kind.document.allowed) throw new Error(`the kind ${kind.name} has no documents: ${kind.document.why}`);
  return definitionOf({
    kind: kind.name,
    shortName: kind.document.shortName,
    columns: printerColumns(kind),
    schema: resourceSchema(registry, kind),
  });
}

/** Returns the columns of `kubectl get`. Columns with a priority appear only with `-o wide`. */
function printerColumns(kind: Kind): readonly JsonObject[] {
  const fromSpec = (name: string, type: string, field: string, more: JsonObject = {}) =>
    field in kind.spec ? [{ name, type, jsonPath: `.spec.${field}`, ...more }] : [];
  return [
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready', 'status') },
    { name: 'Message', type: 'string', jsonPath: conditionPath('Ready', 'message') },
    ...fromSpec('Enabled', 'boolean', 'enabled'),
    { name: 'Id', type: 'string', jsonPath: '.status.id' },
    ageColumn,
    ...fromSpec('Display Name', 'string', kind.nameField, { priority: 1 }),
    { name: 'Revision', type: 'integer', jsonPath: '.status.revision', priority: 1 },
  ];
}

function resourceSchema(registry: Registry, kind: Kind): JsonObject {
  const onlyName =
    kind.singleton === undefined ? {} : { properties: { name: { type: 'string', enum: [kind.singleton] } } };
  const spec = specSchema(registry, kind, 'document');
  return {
    type: 'object',
    description: kind.doc,
    ...(isSpecOptional(spec) ? {} : { required: ['spec'] }),
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', ...onlyName },
      spec: {
        description: 'The desired state, as in a document.',
        ...withServices(registry, kind, withRules(registry, kind, toStructuralSchema(spec))),
      },
      status: statusSchema,
    },
  };
}

/** Allows a Service instead of an address, in the resource itself and in children that it contains. */
function withServices(registry: Registry, kind: Kind, schema: JsonObject): JsonObject {
  const lists = registry.inlineChildrenOf(kind.name).filter(({ child }) => child.service !== undefined);
  if (lists.length === 0) return withService(kind, schema);
  const properties = asObject(schema['properties']);
  const changed = lists.map(({ child, member }) => {
    const list = asObject(properties[member]);
    return [member, { ...list, items: withService(child, asObject(list['items'])) }] as const;
  });
  return withService(kind, { ...schema, properties: { ...properties, ...Object.fromEntries(changed) } });
}

/** Allows a Service instead of the address field, which is then no longer required. */
function withService({ service }: Kind, schema: JsonObject): JsonObject {
  if (service === undefined) return schema;
  const { member, field } = service;
  const { required, properties } = schema;
  const others = (Array.isArray(required) ? required : []).filter((name) => name !== field);
  const reference = {
    type: 'object',
    description: `Service in the namespace of the resource. Its address is used instead of \`${field}\`.`,
    required: ['name'],
    properties: {
      name: {
        type: 'string',
        minLength: 1,
        maxLength: 63,
        description: 'Name of the Service, in the namespace of the resource.',
      },
      port: {
        type: 'integer',
        minimum: 1,
        maximum: 65535,
        description: 'Port that the Service must have. Policies determine which ports are open.',
      },
    },
  };
  const rule = `has(self.${field}) != has(self.${member})`;
  const message = `give either \`${field}\` or \`${member}\``;
  return withValidations(
    { ...schema, required: others, properties: { ...asObject(properties), [member]: reference } },
    [{ rule, message }],
  );
}

/** Adds the rules of a kind, and those of the children that its documents contain. */
function withRules(registry: Registry, kind: Kind, schema: JsonObject): JsonObject {
  const fixed = createOnlyRules(kind.spec);
  if (fixed.length > 0 && isSpecOptional(schema))
    throw new Error(`${kind.name} has create-only fields and an optional spec; make a field required`);
  const children = registry.inlineChildrenOf(kind.name).map(({ child, member }): readonly [string, AnyField] => {
    const { name, spec, rules = [] } = child;
    return [
      member,
      { type: 'list', set: false, of: { type: 'object', fields: spec, rules, atomic: true, doc: name }, doc: name },
    ];
  });
  const fields = { ...kind.spec, ...Object.fromEntries(children) };
  return withValidations(withExpressions(schema, { fields, rules: kind.rules ?? [], isAtomic: false }), fixed);
}
