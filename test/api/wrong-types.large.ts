import { expect, it } from 'vitest';
import type { Described } from './described.ts';
import { inPhases } from './example-order.ts';
import { createScene, isCreation, type Scene } from './example-scene.ts';
import { asOperator, createCall, type TestApi, testApi } from './setup.ts';
import { variantsOf } from './wrong-values.ts';

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
