import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { type Connection, connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { asObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { Kind } from '../../src/model/declare/kind.ts';
import { pluralOf } from '../../src/model/lower/crd/names.ts';
import { documentKinds, registry } from '../model/product.ts';
import { compare } from './differences.ts';

const definitions = fileURLToPath(new URL('../../crds', import.meta.url));
let connection: Connection;
let client: Client;

beforeAll(async () => {
  connection = await connectByKubeconfig(inject('kubeconfig'));
  client = createClient({ connection, fieldManager: 'heddle' });
  for (const file of await readdir(definitions)) {
    const definition = parse(await readFile(join(definitions, file), 'utf8'));
    await client.apply(
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`,
      definition,
    );
  }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'compared' } };
  await client.apply('/api/v1/namespaces/compared', namespace);
});

afterAll(() => client.close());

const resource = (kind: Kind, spec: JsonObject, name = kind.singleton ?? 'sample') => ({
  ...{ apiVersion: 'heddle.dev/v1', kind: kind.name },
  ...{ metadata: { name }, spec },
});

const collectionOf = (kind: Kind) => `/apis/heddle.dev/v1/namespaces/compared/${pluralOf(kind.name)}`;

/**
 * Returns the reasons why the API server refuses a resource; empty when it accepts. Requests with strict field
 * validation refuse unknown fields.
 */
async function refusalsOf(
  kind: Kind,
  spec: JsonObject,
  query = 'dryRun=All&fieldValidation=Strict',
): Promise<string[]> {
  const { tls, headers } = await connection.credentials();
  const sent = request(`${connection.server}${collectionOf(kind)}?${query}`, {
    ...tls,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
  });
  sent.end(JSON.stringify(resource(kind, spec)));
  const [response] = await once(sent, 'response');
  const answer = JSON.parse(await textOf(response));
  if (response.statusCode === 201) return [];
  // Any other status says nothing about the resource.
  if (response.statusCode !== 422 && response.statusCode !== 400) throw new Error(JSON.stringify(answer));
  const causes = (answer.details?.causes ?? [])
    .map((cause: { readonly message: string }) => cause.message)
    // The API server adds a message that some expressions were not evaluated, which is not a refusal by itself.
    .filter((message: string) => !message.includes('some validation rules were not checked'));
  return causes.length > 0 ? causes : [String(answer.message)];
}

/** Waits until the endpoint of a kind works, which happens some time after its definition is established. */
const accepted = (kind: Kind) => expect.poll(() => refusalsOf(kind, asObject(kind.example as Json))).toEqual([]);

describe('CRDs on a real API server', () => {
  test.each(documentKinds.map((kind) => [kind.name, kind] as const))('accept the example of %s', async (_, kind) => {
    await accepted(kind);
  });

  test('accept and refuse 2,000 altered specs as documents do, except for known differences', async () => {
    for (const kind of documentKinds) await accepted(kind);
    const { accepted: harmless, refused, reasons, unexplained } = await compare(2000, 11, refusalsOf);
    expect(unexplained).toEqual([]);
    expect([harmless > 400, refused > 800, Object.keys(reasons).length > 3]).toEqual([true, true, true]);
  }, 120_000);

  test('require either an address or a Service for a resource inside a Network', async () => {
    const kind = registry.get('Network');
    await accepted(kind);
    const refusals = (entry: JsonObject) =>
      refusalsOf(kind, { name: 'Cluster', resources: [{ name: 'Wiki', ...entry }] });
    const [address, serviceRef] = ['10.20.0.10', { name: 'wiki', port: 443 }];
    expect(await Promise.all([refusals({ address }), refusals({ serviceRef })])).toEqual([[], []]);
    const sentence = [expect.stringContaining('give either `address` or `serviceRef`')];
    expect(await Promise.all([refusals({}), refusals({ address, serviceRef })])).toEqual([sentence, sentence]);
  });

  test('refuse to change or remove fields that can only be set at creation', async () => {
    const kind = registry.get('SetupKey');
    await accepted(kind);
    const path = `${collectionOf(kind)}/fixed`;
    const key = { type: 'reusable', expires_in: 86_400, ephemeral: true };
    await client.apply(path, resource(kind, key, 'fixed'));
    const refused = { status: 422, message: expect.stringContaining('can be set only at creation') };
    await expect(client.patch(path, { spec: { expires_in: 90_000 } })).rejects.toMatchObject(refused);
    await expect(client.patch(path, { spec: { ephemeral: null } })).rejects.toMatchObject(refused);
    await expect(client.patch(path, { spec: { usage_limit: 0 } })).resolves.toMatchObject({ kind: 'SetupKey' });
  });
});
