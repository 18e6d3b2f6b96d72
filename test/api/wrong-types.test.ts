import { describe, expect, it } from 'vitest';
import { isObject, type Json } from '../../src/lib/json.ts';
import { documentKinds } from '../model/product.ts';
import type { Described } from './described.ts';
import { inPhases } from './example-order.ts';
import { createScene, isCreation, type Scene } from './example-scene.ts';
import { asOperator, createCall, sharedApi, type TestApi, testApi } from './setup.ts';

/** An object that throws when it is converted to a string or a number, and that looks like a list. */
const hostile = { toString: 2, valueOf: 2, toJSON: 2, length: 1_000_000_000, constructor: 1 };
const wrongValues: readonly Json[] = [
  ...[hostile, [hostile], 7, true, 'x', [null], { valueFrom: { stored: 'true' } }],
  // `JSON.parse` creates an own member of this name, like the server's parser.
  JSON.parse('{"__proto__":{"type":1}}'),
];

/** Returns copies of a value, each with one wrong value at one place. One of the places is the whole value. */
function variantsOf(value: Json): readonly Json[] {
  const here = wrongValues;
  if (Array.isArray(value)) {
    const [first, ...others] = value as readonly Json[];
    return first === undefined ? here : [...here, ...variantsOf(first).map((item) => [item, ...others])];
  }
  if (!isObject(value)) return here;
  const members = Object.entries(value);
  return [
    ...here,
    ...members.flatMap(([name, inner]) => variantsOf(inner).map((variant) => ({ ...value, [name]: variant }))),
  ];
}

/** Whether the operation accepts a JSON body. */
function takesJson({ operation }: Described): boolean {
  return JSON.stringify(operation['requestBody'] ?? {}).includes('"application/json"');
}

/** Returns the headers that identify the caller of an operation. */
function callerOf({ operation, path }: Described, proxies: string): Readonly<Record<string, string>> {
  if (path.startsWith('/proxy/')) return { authorization: `Bearer ${proxies}` };
  return JSON.stringify(operation['security'] ?? []).includes('"Operator"') ? asOperator : {};
}

/**
 * Sends every variant of the example of an operation. Returns a line for each variant that the server answers with a
 * status of 500 or more.
 */
async function attempt(api: TestApi, scene: Scene, of: Described, proxies: string): Promise<readonly string[]> {
  const { url, headers } = await scene.locate(of);
  // The answers are not checked against the OpenAPI document, because the check would stop at the first 500.
  const call = createCall(api.app, () => undefined);
  const caller = callerOf(of, proxies);
  const failed: string[] = [];
  for (const body of variantsOf(scene.exampleOf(of) ?? {})) {
    const { status } = await call(of.method.toUpperCase(), url, JSON.stringify(body), { ...caller, ...headers });
    if (status >= 500) failed.push(`${of.name} answers ${status} to ${JSON.stringify(body)}`);
  }
  return failed;
}

it('no operation answers a value of a wrong type with 500', async () => {
  const txt = new Map<string, readonly string[]>();
  await using api = await testApi('postgres', { edition: 'hosted', resolveTxt: async (name) => txt.get(name) ?? [] });
  const scene = await createScene(api, 'hosted', txt);
  const made = scene.operations.filter((of) => isCreation(of, scene.operations));
  await inPhases(scene, made, (of) => scene.attempt(of));
  const { body } = await api.call('POST', '/api/reverse-proxies/proxy-tokens', { name: 'proxies' });
  const failed: string[] = [];
  for (const of of scene.operations.filter(takesJson))
    failed.push(...(await attempt(api, scene, of, body.plain_token)));
  api.defects.length = 0;
  expect(failed).toEqual([]);
});

it('a web address that `URL.canParse` accepts and the parser refuses is refused with 422', async () => {
  await using api = await testApi();
  const target = { url: `https://${'{{.ID}}'.repeat(128_571)}` };
  const channel = { type: 'webhook', target, event_types: ['user.join'], enabled: true };
  const { status, body } = await api.call('POST', '/api/integrations/notifications/channels', channel);
  expect([status, body.problems]).toMatchObject([422, [{ code: 'value_too_long', path: '/target/url' }]]);
  expect(body.problems).toHaveLength(1);
});

describe('a document', () => {
  const api = sharedApi();

  it.each(documentKinds.map((kind) => [kind.name, kind] as const))(
    'of the kind %s does not answer a value of a wrong type with 500',
    async (_, kind) => {
      const document = {
        apiVersion: 'heddle.dev/v1',
        kind: kind.name,
        metadata: { name: 'tried' },
        spec: kind.example,
      };
      const files = variantsOf(document as Json).map((variant, at) => ({
        path: `${at}.yaml`,
        text: JSON.stringify(variant),
      }));
      const { status } = await api().call('POST', '/api/config/validate', { source: 'team', files });
      expect(status).toBe(422);
    },
  );
});
