import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';

const forbidden = [
  '$ref',
  '$schema',
  'definitions',
  'dependencies',
  'patternProperties',
  'additionalItems',
  'readOnly',
  'writeOnly',
  'uniqueItems',
  'x-ref',
  'x-merge',
  'x-literal',
];
const scalars = ['string', 'integer', 'number', 'boolean'];
const listTypes = ['atomic', 'set', 'map'];

/**
 * Returns the violations of the rules that the Kubernetes API server has for structural schemas, each with its path.
 */
export function structuralFaults(schema: JsonObject, path = ''): readonly string[] {
  const { type, properties, additionalProperties, items } = schema;
  const faults = forbidden.filter((keyword) => keyword in schema).map((keyword) => `${path}: ${keyword} is forbidden`);
  if (typeof type !== 'string' && schema['x-kubernetes-preserve-unknown-fields'] !== true)
    faults.push(`${path}: a type is missing`);
  if (properties !== undefined && additionalProperties !== undefined)
    faults.push(`${path}: properties beside additionalProperties`);
  if (typeof additionalProperties === 'boolean') faults.push(`${path}: additionalProperties is no schema`);
  if (type === 'array') faults.push(...listFaults(schema, path));
  else if ('x-kubernetes-list-type' in schema) faults.push(`${path}: a list type without a list`);
  if ('default' in schema) faults.push(`${path}: a default would be taken for a stated value`);
  for (const name of (schema['required'] ?? []) as readonly string[]) {
    if (!Object.hasOwn((properties ?? {}) as object, name))
      faults.push(`${path}: ${name} is required and not declared`);
  }
  return [...faults, ...below(properties, additionalProperties, items, path)];
}

function below(
  properties: Json | undefined,
  additional: Json | undefined,
  items: Json | undefined,
  path: string,
): readonly string[] {
  const members = isObject(properties) ? Object.entries(properties) : [];
  return [
    ...members.flatMap(([name, schema]) => structuralFaults(schema as JsonObject, `${path}/${name}`)),
    ...(isObject(additional) ? structuralFaults(additional as JsonObject, `${path}/*`) : []),
    ...(isObject(items) ? structuralFaults(items as JsonObject, `${path}[]`) : []),
  ];
}

function listFaults(schema: JsonObject, path: string): readonly string[] {
  const listType = String(schema['x-kubernetes-list-type']);
  const items = schema['items'] as JsonObject | undefined;
  if (items === undefined) return [`${path}: a list without items`];
  if (!listTypes.includes(listType)) return [`${path}: the list type ${listType} is not known`];
  if (listType === 'set' && !scalars.includes(String(items['type']))) return [`${path}: a set of what is no scalar`];
  return listType === 'map' ? mapFaults(schema, items, path) : [];
}

function mapFaults(schema: JsonObject, items: JsonObject, path: string): readonly string[] {
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []) as readonly string[];
  const properties = (items['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = (items['required'] ?? []) as readonly string[];
  const faults = keys.flatMap((key) => {
    const type = String(properties[key]?.['type']);
    if (!scalars.includes(type)) return [`${path}: the map key ${key} is no scalar`];
    return required.includes(key) || properties[key]?.['default'] !== undefined
      ? []
      : [`${path}: the map key ${key} may be absent`];
  });
  return keys.length === 0 ? [`${path}: a map without keys`] : faults;
}
