import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { describeApi } from '../../../src/api/description.ts';
import {
  appendPointer,
  asObjectOrEmpty,
  asObjects,
  isObject,
  type Json,
  type JsonObject,
} from '../../../src/lib/json.ts';
import { registry } from '../../model/product.ts';

const describeIt = (edition: 'self-hosted' | 'hosted') =>
  describeApi(registry, { version: '0.0.0', edition, profile: 'compatible' });

const descriptions = { 'self-hosted': await describeIt('self-hosted'), hosted: await describeIt('hosted') };

describe.each(['self-hosted', 'hosted'] as const)(
  'the OpenAPI description of the compatible profile, %s edition',
  (edition) => {
    const description = descriptions[edition];

    it('passes an independent OpenAPI 3.1 validator', async () => {
      const { valid, errors } = await new Validator().validate(structuredClone(description) as JsonObject);
      expect([valid, errors]).toEqual([true, undefined]);
    });

    it('has examples that match their schemas', () => {
      // Most of the time is for compiling, so each schema is compiled once, without optimization.
      const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
      addFormats.default(ajv);
      ajv.addSchema({ $id: 'openapi', ...description });
      const shown = [...examplesIn(description)];
      expect(shown.length).toBeGreaterThan(200);
      const validators = new Map<string, ValidateFunction>();
      const faults = shown.flatMap(([pointer, example, schema]) => {
        const text = JSON.stringify(schema);
        const validate = validators.get(text) ?? ajv.compile({ $ref: `openapi#${pointer}/schema` });
        validators.set(text, validate);
        return validate(example) ? [] : [[pointer, validate.errors]];
      });
      expect(faults).toEqual([]);
    });
  },
);

describe('schemas of the compatible profile', () => {
  const description = descriptions.hosted;
  const { schemas } = description['components'] as { readonly schemas: JsonObject };

  it.each([
    ['PUT', '/api/integrations/edr/sentinelone', 'api_token', 'string'],
    ['PUT', '/api/integrations/edr/intune', 'secret', 'string'],
    ['PUT', '/api/integrations/edr/fleetdm', 'api_token', 'string'],
    ['PUT', '/api/integrations/edr/falcon', 'secret', 'string'],
    ['PUT', '/api/integrations/edr/falcon', 'client_id', 'string'],
    ['PUT', '/api/event-streaming/{id}', 'platform', 'string'],
    ['PUT', '/api/integrations/event-streaming/{id}', 'platform', 'string'],
    ['POST', '/api/setup-keys', 'usage_limit', 'integer'],
  ])('of %s %s make the member %s optional and nullable', (method, path, member, type) => {
    for (const { required, properties } of bodiesOf(method, path)) {
      expect(required).not.toContain(member);
      expect(asObjectOrEmpty(properties)[member]).toMatchObject({ type: [type, 'null'] });
    }
  });

  it.each([
    ['POST', '/api/integrations/edr/sentinelone', 'api_token'],
    ['POST', '/api/integrations/edr/intune', 'secret'],
    ['POST', '/api/event-streaming', 'platform'],
    ['POST', '/api/integrations/edr/falcon', 'client_id'],
  ])('of %s %s require the member %s', (method, path, member) => {
    for (const { required, properties } of bodiesOf(method, path)) {
      expect(required).toContain(member);
      expect(asObjectOrEmpty(properties)[member]).toMatchObject({ type: 'string' });
    }
  });

  it('leave the schemas of the specification profile unchanged', async () => {
    const { components } = await describeApi(registry, { version: '0.0.0', edition: 'hosted' });
    const specified = asObjectOrEmpty(asObjectOrEmpty(components)['schemas']);
    expect(specified['EdrVendorAReplacement']).toBeUndefined();
    expect(asObjectOrEmpty(specified['SetupKeyRequest'])['required']).toContain('usage_limit');
  });

  it.each([
    ['/api/setup-keys/{keyId}', 'string'],
    ['/api/event-streaming/{id}', 'integer'],
  ])('give ids in paths the type that objects show: %s, %s', (path, type) => {
    const { parameters, get } = itemOf(path);
    expect(parameters).toMatchObject([{ in: 'path', schema: { type } }]);
    const answer = asObjectOrEmpty(asObjectOrEmpty(asObjectOrEmpty(get)['responses'])['200']);
    for (const { properties } of schemasOf(answer)) expect(asObjectOrEmpty(properties)['id']).toMatchObject({ type });
  });

  function itemOf(path: string): JsonObject {
    return asObjectOrEmpty(asObjectOrEmpty(description['paths'])[path]);
  }

  function bodiesOf(method: string, path: string): readonly JsonObject[] {
    return schemasOf(asObjectOrEmpty(asObjectOrEmpty(itemOf(path)[method.toLowerCase()])['requestBody']));
  }

  /** Returns the schema of a body, or its alternatives. */
  function schemasOf({ content }: JsonObject): readonly JsonObject[] {
    const schema = followed(asObjectOrEmpty(asObjectOrEmpty(content)['application/json'])['schema']);
    const found = schema['oneOf'] === undefined ? [schema] : asObjects(schema['oneOf']).map(followed);
    expect(found.every(({ properties }) => properties !== undefined)).toBe(true);
    return found;
  }

  function followed(schema: Json | undefined): JsonObject {
    return asObjectOrEmpty(schemas[String(asObjectOrEmpty(schema)['$ref']).split('/').at(-1) ?? '']);
  }
});

/** Yields every example that has a schema next to it, with the pointer to both and the schema. */
function* examplesIn(value: Json, pointer = ''): Generator<readonly [string, Json, Json]> {
  if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* examplesIn(item, `${pointer}/${at}`);
  else if (isObject(value)) {
    const members = value as JsonObject;
    if (members['example'] !== undefined && members['schema'] !== undefined)
      yield [pointer, members['example'], members['schema']];
    for (const [name, item] of Object.entries(members))
      yield* examplesIn(item, appendPointer(pointer, encodeURIComponent(name)));
  }
}
