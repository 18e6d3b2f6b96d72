import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { operationsOf } from './described.ts';
import { sharedApi } from './setup.ts';

/** A GET that starts a check, and has an empty answer. */
const starting = 'GET /api/reverse-proxies/domains/{domainId}/validate';
/** GET operations without an ETag: their answer can be read only once, or is sent while it is read. */
const uncached: readonly string[] = ['GET /api/config/plans/{id}/outputs', 'GET /api/config/backup', starting];

const editions = ['self-hosted', 'hosted'] as const;

/** Returns the errors that an independent validator finds in an OpenAPI document. */
async function faultsOf(document: JsonObject): Promise<unknown> {
  // The validator modifies its argument.
  const { valid, errors } = await new Validator().validate(structuredClone(document) as JsonObject);
  return valid ? [] : errors;
}

describe.each(editions)('the OpenAPI document of the %s edition', (edition) => {
  const api = sharedApi({ edition });
  const read = async (): Promise<JsonObject> => (await api().call('GET', '/api/openapi.json')).body;

  it('passes an independent OpenAPI 3.1 validator', async () => {
    expect(await faultsOf(await read())).toEqual([]);
  });

  it('has schemas that are valid JSON Schema 2020-12', async () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    const schemas = schemasIn(await read());
    expect(schemas.length).toBeGreaterThan(300);
    for (const schema of schemas)
      expect(ajv.validateSchema(schema) || ajv.errorsText(), JSON.stringify(schema)).toBe(true);
  });

  it('limits the batch name of a report to 100 characters', async () => {
    const { components } = await read();
    const { schemas } = components as { readonly schemas: JsonObject };
    for (const name of ['ReportTrafficRequest', 'ReportRequestsRequest'])
      expect(schemas[name]).toMatchObject({ properties: { batch: { maxLength: 100 } } });
  });

  it('describes the summary, body, answer and failures of every operation', async () => {
    const operations = operationsOf(await read());
    expect(operations.length).toBeGreaterThan(130);
    expect(operations.flatMap((found) => missingIn(found).map((what) => `${found.name}: ${what}`))).toEqual([]);
  });

  it('gives every operation a unique operationId', async () => {
    const names = operationsOf(await read()).map(({ operation }) => operation['operationId']);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('contains the operations of its edition and no others', async () => {
    const ingress = operationsOf(await read()).filter(({ path }) => path.includes('ingress'));
    expect(ingress.length > 0).toBe(edition === 'hosted');
  });
});

describe('the independent OpenAPI validator', () => {
  it.each<readonly [string, (document: JsonObject) => JsonObject]>([
    ['an operation without answers', (document) => withOperation(document, { responses: {} })],
    ['an unknown member', (document) => withOperation(document, { response: {} })],
    ['a reference that leads nowhere', (document) => withOperation(document, { parameters: [{ $ref: '#/nowhere' }] })],
    ['a schema that is a number', (document) => ({ ...document, components: { schemas: { Group: 7 } } })],
  ])('refuses %s', async (_, spoil) => {
    const operation = { responses: { 200: { description: 'Done.' } } };
    const sound = withOperation({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {} }, operation);
    expect(await faultsOf(sound)).toEqual([]);
    await expect(faultsOf(spoil(sound)).then((faults) => expect(faults).toEqual([]))).rejects.toThrow();
  });
});

function withOperation(document: JsonObject, operation: JsonObject): JsonObject {
  const responses = { 200: { description: 'Done.' } };
  return { ...document, paths: { '/x': { get: { responses, ...operation } } } };
}

function schemasIn(value: Json, name = ''): readonly JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((item) => schemasIn(item));
  if (!isObject(value)) return [];
  const members = value as JsonObject;
  if (name === 'schema') return [members];
  if (name === 'schemas') return Object.values(members) as readonly JsonObject[];
  return Object.entries(members).flatMap(([inner, item]) => (inner === 'example' ? [] : schemasIn(item, inner)));
}

type Found = ReturnType<typeof operationsOf>[number];

function missingIn(found: Found): readonly string[] {
  const { method, operation, answer, name } = found;
  const isEmpty = ['delete', 'post', 'put'].includes(method) || name === starting;
  return [
    ...(operation['summary'] === undefined ? ['a summary'] : []),
    ...(answer.content === undefined && !isEmpty ? ['an answer'] : []),
    ...contentFaults('the answer', answer.content),
    ...bodyFaults(found),
    ...errorFaults(found),
  ];
}

function contentFaults(what: string, content: JsonObject | undefined): readonly string[] {
  return Object.entries(content ?? {}).flatMap(([type, media]) => {
    const { schema, example } = media as JsonObject;
    const isBare = !isObject(schema) || Object.keys(schema).length === 0;
    return [
      ...(isBare ? [`the schema of ${what} in ${type}`] : []),
      ...(example === undefined ? [`the example of ${what} in ${type}`] : []),
    ];
  });
}

function bodyFaults({ operation }: Found): readonly string[] {
  const body = operation['requestBody'];
  return isObject(body) ? contentFaults('the body', (body as JsonObject)['content'] as JsonObject) : [];
}

/** Returns the failures that the operation must declare and does not. */
function errorFaults({ name, method, path, operation, answer }: Found): readonly string[] {
  const isOpen = Array.isArray(operation['security']) && operation['security'].length === 0;
  const isApi = path.startsWith('/api/');
  // A webhook call for a source reveals only whether its signature is valid.
  const isHint = path.endsWith('/webhook');
  const takesBody = operation['requestBody'] !== undefined && !isHint;
  const conditional = JSON.stringify(operation['parameters'] ?? []).includes('/IfMatch');
  const needed = [
    ...(isOpen ? [] : [401, 403]),
    ...(isApi ? [429, 503] : []),
    ...(path.includes('{') && !isHint ? [404] : []),
    ...(takesBody ? [400, 413, 415] : []),
    ...(takesBody && (operation['requestBody'] as JsonObject)['required'] === true ? [422] : []),
    ...(conditional ? [412] : []),
  ];
  const known = Object.keys(operation['responses'] as JsonObject);
  const isCached = known.includes('304') && answer.headers.includes('ETag');
  const isStream = ['text/event-stream', 'application/gzip'].some((type) => answer.content?.[type] !== undefined);
  return [
    ...needed.filter((status) => !known.includes(String(status))).map((status) => `the failure ${status}`),
    ...(method !== 'get' || isCached || isStream || uncached.includes(name) ? [] : ['that it carries an ETag']),
  ];
}
