import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { areas } from '../../src/api/area-routes.ts';
import { openOperations } from '../../src/api/description.ts';
import { asObjectOrEmpty, isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { lowerToOpenApi, lowerToOpenApiInSteps } from '../../src/model/lower/openapi/openapi.ts';
import { pathsOf, schemasOf } from '../../src/model/operation/openapi.ts';
import type { AnyField } from '../../src/model/schema/field.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { registry } from './product.ts';

// Leaves out operations at the paths of kinds: they are declared in addition to the verbs of the kinds.
const declared = areas
  .flatMap(({ operations: stated = [] }) => stated)
  .filter(({ path }) => !registry.kinds.some((kind) => kind.path !== undefined && path.startsWith(kind.path)));
const options = {
  version: '1.2.3',
  edition: 'hosted',
  ...{ extraPaths: { '/api/extra': {}, ...pathsOf(declared) }, extraSchemas: schemasOf(declared) },
} as const;
const document = lowerToOpenApi(registry, options);
const methods = ['get', 'put', 'post', 'delete', 'patch'];

interface Found {
  readonly path: string;
  readonly method: string;
  readonly item: JsonObject;
  readonly operation: JsonObject;
}

const operations = Object.entries(document['paths'] as Readonly<Record<string, JsonObject>>).flatMap(([path, item]) =>
  methods
    .filter((method) => method in item)
    .map((method): Found => ({ path, method, item, operation: item[method] as JsonObject })),
);

/** Yields every value in the document with its JSON pointer. */
function* walk(value: Json, pointer = '#'): Generator<readonly [string, Json]> {
  yield [pointer, value];
  if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* walk(item, `${pointer}/${at}`);
  else if (isObject(value)) {
    for (const [name, item] of Object.entries(value as JsonObject))
      yield* walk(item, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

const valuesByPointer = new Map(walk(document));
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...document });

describe('the OpenAPI document', () => {
  test('states its OpenAPI version, title and version', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Heddle', version: '1.2.3' },
      paths: { '/api/extra': {} },
    });
  });

  test('is identical each time it is generated', () => {
    expect(JSON.stringify(lowerToOpenApi(registry, options))).toBe(JSON.stringify(document));
  });

  test('is generated in steps of at most one kind, so that the server can answer other requests meanwhile', () => {
    const steps = [...lowerToOpenApiInSteps(registry, options)];
    expect(steps.length).toBeGreaterThan(registry.kinds.filter(({ path }) => path !== undefined).length);
  });

  test('has no dangling references', () => {
    const references = [...valuesByPointer.values()].map((value) => (isObject(value) ? value['$ref'] : undefined));
    const missing = references.filter((target) => target !== undefined && !valuesByPointer.has(String(target)));
    expect(missing).toEqual([]);
  });

  test('declares exactly the parameters in each path', () => {
    const faults = operations.filter(({ path, item }) => {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = ((item['parameters'] ?? []) as readonly JsonObject[]).filter(
        (parameter) => parameter['in'] === 'path' && parameter['required'] === true,
      );
      return JSON.stringify(named) !== JSON.stringify(declared.map((parameter) => parameter['name']));
    });
    expect(faults.map(({ path }) => path)).toEqual([]);
  });

  test('has a unique id, a tag, a summary and a response for every operation', () => {
    const ids = operations.map(({ operation }) => operation['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = (document['tags'] as readonly JsonObject[]).map((tag) => tag['name']);
    for (const { operation } of operations) {
      expect(tags).toEqual(expect.arrayContaining([...(operation['tags'] as readonly string[])]));
      expect(operation).toMatchObject({ summary: expect.any(String), responses: expect.any(Object) });
    }
  });

  test('accepts in PUT what GET returns, with the hidden secrets added', () => {
    const exampleOf = (method: string, { item }: Found): JsonObject => {
      const { responses, requestBody } = item[method] as JsonObject;
      const body = method === 'get' ? asObjectOrEmpty(asObjectOrEmpty(responses)['200']) : asObjectOrEmpty(requestBody);
      return asObjectOrEmpty(asObjectOrEmpty(asObjectOrEmpty(body['content'])['application/json'])['example']);
    };
    // A source is read with its status, but written without it.
    const replaced = operations.filter(
      ({ path, method, item }) => method === 'put' && 'get' in item && !/sources/.test(path),
    );
    const faults = replaced.flatMap((found) => {
      const [read, written] = [exampleOf('get', found), exampleOf('put', found)];
      const hidden = Object.entries(written).filter(([name]) => /secret|token|client_id/.test(name) && !(name in read));
      const pathPointer = `openapi#/paths/${found.path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}`;
      const validate = ajv.compile({ $ref: `${pathPointer}/put/requestBody/content/application~1json/schema` });
      return validate({ ...read, ...Object.fromEntries(hidden) })
        ? []
        : [`${found.path}: ${ajv.errorsText(validate.errors)}`];
    });
    expect(faults).toEqual([]);
    expect(replaced.length).toBeGreaterThan(20);
  });

  test('has only schemas that compile', () => {
    const names = Object.keys((document['components'] as Readonly<Record<string, JsonObject>>)['schemas'] ?? {});
    for (const name of names)
      expect(ajv.compile({ $ref: `openapi#/components/schemas/${name}` })).toBeTypeOf('function');
  });

  test('has only examples that are valid by their schemas', () => {
    const bodies = [...valuesByPointer].filter(
      ([, value]) => isObject(value) && 'example' in value && 'schema' in value,
    );
    expect(bodies.length).toBeGreaterThan(20);
    const faults = bodies.flatMap(([pointer, value]) => {
      const validate = ajv.compile({ $ref: `openapi${pointer}/schema` });
      return validate((value as JsonObject)['example']) ? [] : [[pointer, validate.errors]];
    });
    expect(faults).toEqual([]);
  });

  test.each(operations.map(({ path, method, operation }) => [`${method} ${path}`, operation] as const))(
    'requires credentials for %s unless it is an open operation',
    (name, operation) => {
      const open =
        name.replace(/^\S+/, (method) => method.toUpperCase()).replace(/\{(\w+)\}/g, ':$1') in openOperations;
      // The webhook request carries a signature, which is not a credential of the API.
      const signed = name === 'post /api/config/sources/{name}/webhook';
      const operators = /config\/\w+\/rotate$|\/metrics$/.test(name) ? [{ Operator: [] }] : undefined;
      expect(operation['security']).toEqual(open || signed ? [] : operators);
      expect(open || '401' in (operation['responses'] as JsonObject)).toBe(true);
    },
  );
});

describe.each(registry.kinds.filter((kind) => kind.path !== undefined).map((kind) => [kind.name, kind] as const))(
  'the routes of %s',
  (name, kind) => {
    const one = kind.single === true ? kind.path : `${kind.path}/{${kind.idParameter ?? 'id'}}`;
    const all = [
      ['list', `get ${kind.path}`],
      ['create', `post ${kind.path}`],
      ['read', `get ${one}`],
      ['replace', `put ${one}`],
      ['delete', `delete ${one}`],
    ] as const;

    test('are those of its verbs and no others', () => {
      const found = operations
        .map(({ method, path }) => `${method} ${path}`)
        .filter((route) => route.endsWith(` ${kind.path}`) || route.endsWith(` ${one}`));
      const expected = all.filter(([verb]) => kind.verbs.includes(verb)).map(([, route]) => route);
      expect([...found].sort()).toEqual([...expected].sort());
    });

    test('have a request example without unknown members', () => {
      const write = operations.find(({ path, method }) =>
        [`post ${kind.path}`, `put ${one}`].includes(`${method} ${path}`),
      );
      expect(write !== undefined).toBe(kind.verbs.includes('create') || kind.verbs.includes('replace'));
      if (write === undefined) return;
      const example = valuesByPointer.get(pointerOf(write, 'requestBody/content/application~1json/example'));
      const surface = kind.verbs.includes('create') ? 'request' : 'replace';
      expect(createValidator(registry).check(name, surface, example as JsonObject)).toEqual([]);
    });

    test('return the id, every field and every computed member', () => {
      const described = valuesByPointer.get(`#/components/schemas/${name}`) as Partial<Described>;
      for (const { $ref } of described.oneOf ?? []) expectMembers(valuesByPointer.get($ref) as unknown as Described);
      expect(described.oneOf?.length).toBe(kind.variants && Object.keys(kind.variants.of).length);
      if (described.oneOf === undefined) expectMembers(described as Described);
    });

    interface Described {
      readonly properties: JsonObject;
      readonly oneOf?: readonly { readonly $ref: string }[];
    }

    function expectMembers(schema: Described): void {
      const isShown = ({ type, hidden, ...field }: AnyField) =>
        hidden !== true && !(type === 'secret' && (field as { readonly read?: string }).read === 'never');
      const fields = Object.entries(kind.spec).filter(([field, spec]) => field !== kind.parent?.field && isShown(spec));
      const id = kind.single === true && kind.ids === undefined ? [] : ['id'];
      expect(Object.keys(schema.properties)).toEqual(
        expect.arrayContaining([...id, ...fields.map(([field]) => field), ...Object.keys(kind.computed)]),
      );
      expect(Object.keys(schema.properties).slice(0, id.length)).toEqual(id);
      const list = operations.find(({ path, method }) => path === kind.path && method === 'get');
      const found = valuesByPointer.get(pointerOf(list, 'responses/200/content/application~1json/example'));
      const example = (Array.isArray(found) ? found[0] : found) as JsonObject | undefined;
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(example ?? { missing: true })));
    }
  },
);

function pointerOf(found: Found | undefined, rest: string): string {
  return `#/paths/${found?.path.replaceAll('/', '~1')}/${found?.method}/${rest}`;
}
