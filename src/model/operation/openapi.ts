import type { Json, JsonObject } from '../../lib/json.ts';
import {
  jsonContent,
  lowerOperation,
  pathParameters,
  queryParameter,
  schemaReference,
  sharedParameter,
  textContent,
} from '../lower/openapi/operation.ts';
import type { AnyField } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import { isRequired } from './fields.ts';
import { failures, hasEtag, type Operation } from './operation.ts';
import { namedSchemas, schemaOfField, schemaOfFields } from './schema.ts';

/** Returns the OpenAPI path items of operations. */
export function pathsOf(operations: readonly Operation[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const declared of operations)
    paths[declared.path] = {
      ...pathParameters(declared.path, (name) => parameterOf(declared, name)),
      ...paths[declared.path],
      [declared.method.toLowerCase()]: describe(declared),
    };
  return paths;
}

/** Returns the schemas of the bodies and answers of operations, by name. */
export function schemasOf(operations: readonly Operation[]): JsonObject {
  const schemas = operations.flatMap((declared): readonly (readonly [string, Json])[] => [
    ...bodySchemas(declared),
    ...unionSchemas(declared),
    ...(declared.answer === undefined ? [] : namedSchemas(declared.answer, 'answer')),
  ]);
  return Object.fromEntries(schemas);
}

function bodySchemas(declared: Operation): readonly (readonly [string, JsonObject])[] {
  const { body = declared.uncheckedBody } = declared;
  if (body === undefined) return [];
  const inner = Object.values(body).flatMap((field) => namedSchemas(field, 'request'));
  return [[bodyName(declared), schemaOfFields(body, 'request', declared.bodyDoc)], ...inner];
}

/** Returns the schema of a union body, and the schemas of its alternatives. */
function unionSchemas(declared: Operation): readonly (readonly [string, JsonObject])[] {
  const { bodyUnion } = declared;
  if (bodyUnion === undefined) return [];
  const alternatives = Object.entries(bodyUnion.of).map(
    ([word, schema]) => [word, `${capitalized(word)}${bodyName(declared)}`, schema] as const,
  );
  const mapping = Object.fromEntries(
    alternatives.map(([word, name]) => [word, `#/components/schemas/${name}`] as const),
  );
  const union = {
    description: bodyUnion.doc,
    oneOf: alternatives.map(([, name]) => schemaReference(name)),
    discriminator: { propertyName: bodyUnion.by, mapping },
  };
  return [[bodyName(declared), union], ...alternatives.map(([, name, schema]) => [name, schema] as const)];
}

function takesBody(declared: Operation): boolean {
  const { bodyUnion, uncheckedBody, bytesBody } = declared;
  return reportsUnknown(declared) || [bodyUnion, uncheckedBody, bytesBody].some((body) => body !== undefined);
}

/** Returns the section of the API reference that contains an operation. */
function tagOf({ id, tag, access }: Operation): string {
  if (tag !== undefined) return tag;
  if (typeof access === 'object' && 'module' in access) return access.module;
  throw new Error(`${id}: an operation without a module must declare its \`tag\``);
}

function describe(declared: Operation): JsonObject {
  const { access, answer, status } = declared;
  const isRead = hasEtag(declared);
  return lowerOperation({
    ...{ id: declared.id, tag: tagOf(declared), summary: declared.summary },
    ...(declared.doc === undefined ? {} : { description: declared.doc }),
    ...parametersOf(declared),
    ...(takesBody(declared) ? { body: bodyOf(declared) } : {}),
    ...(declared.optionalBody === true ? { optionalBody: true } : {}),
    ...(answer === undefined ? {} : { answer: contentOf(declared, answer) }),
    ...(status === undefined ? {} : { status }),
    ...headersOf(declared),
    ...(isRead ? { unchanged: true } : {}),
    ...(typeof access === 'object' && 'open' in access ? { open: true } : {}),
    ...(access === 'operator' ? { operator: true } : {}),
    errors: statusesOf(declared),
  });
}

/** Returns the request body, by media type. */
function bodyOf(declared: Operation): JsonObject {
  const { bytesBody, textBody, example } = declared;
  if (bytesBody !== undefined) return bytesBody.content;
  const [type] = textBody?.types ?? [];
  return {
    ...jsonContent(schemaReference(bodyName(declared)), example.body ?? {}),
    ...(textBody === undefined || type === undefined ? {} : textContent(type, textBody.example)),
  };
}

/** Returns the answer, by media type. */
function contentOf({ answerType, otherMediaTypes = {}, example }: Operation, answer: AnyField): JsonObject {
  const others = Object.entries(otherMediaTypes).map(([type, text]) => textContent(type, text));
  const own = { schema: schemaOfField(answer, 'answer'), example: example.answer ?? {} };
  return Object.assign({ [answerType ?? 'application/json']: own }, ...others) as JsonObject;
}

function parametersOf(declared: Operation) {
  const parameters = [
    ...entriesOf(declared.query).map(([name, field]) => queryOf(declared, name, field)),
    ...(hasEtag(declared) ? [sharedParameter('IfNoneMatch')] : []),
    ...(declared.ifMatch === true ? [sharedParameter('IfMatch')] : []),
    ...(declared.parameters ?? []).map(sharedParameter),
    ...(reportsUnknown(declared) ? [sharedParameter('Prefer')] : []),
  ];
  return parameters.length === 0 ? {} : { parameters };
}

function queryOf({ example }: Operation, name: string, field: AnyField): JsonObject {
  const shown = example.query?.[name];
  const { default: fallback } = field;
  const schema = { ...withoutDoc(field), ...(fallback === undefined ? {} : { default: fallback }) };
  return {
    ...queryParameter(name, field.doc, schema),
    required: isRequired(field),
    ...(shown === undefined ? {} : { example: shown }),
  };
}

function headersOf(declared: Operation) {
  const headers = [
    ...(hasEtag(declared) ? ['ETag'] : []),
    ...(reportsUnknown(declared) ? ['Heddle-Ignored'] : []),
    ...(declared.headers ?? []),
  ];
  return headers.length === 0 ? {} : { headers };
}

/** Returns the error statuses that follow from an operation's shape, and those that it declares. */
function statusesOf(declared: Operation): readonly number[] {
  const { access, path, readOnce, errors = [] } = declared;
  const isOpen = typeof access === 'object' && 'open' in access;
  const statuses = [
    ...(isOpen ? [] : [401, 403]),
    ...(path.includes('{') ? [404] : []),
    ...(takesBody(declared) ? (declared.bytesBody?.types.includes('*') === true ? [413] : [400, 413, 415, 422]) : []),
    ...(readOnce === true ? [failures.gone] : []),
    ...errors.map((name) => failures[name]),
    ...[429, 503],
  ];
  return [...new Set(statuses)].sort((a, b) => a - b);
}

function parameterOf({ params, example }: Operation, name: string): JsonObject {
  // `defineOperation` checked that the path has only declared parameters.
  const field = params[name] as AnyField;
  const shown = example.params?.[name];
  return { description: field.doc, schema: withoutDoc(field), ...(shown === undefined ? {} : { example: shown }) };
}

function withoutDoc(field: AnyField): JsonObject {
  return schemaOfField({ ...field, doc: '' }, 'answer');
}

/** Checks whether the operation reports or refuses unknown members of its body. */
function reportsUnknown({ body, requestOf }: Operation): boolean {
  return body !== undefined || requestOf !== undefined;
}

function bodyName({ id, bodySchema, requestOf }: Operation): string {
  if (requestOf !== undefined) return `${requestOf}Request`;
  return bodySchema ?? `${capitalized(id)}Request`;
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
