import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { at, refusal, render } from './render.ts';
import { objectsBelow } from './shape.ts';

const mebibyte = 1024 * 1024;
const schema: unknown = JSON.parse(readFileSync('charts/heddle/values.schema.json', 'utf8'));

describe('the chart refuses', () => {
  test.each<[string, readonly string[], object, RegExp]>([
    ['to run without a database', [], {}, /Heddle needs a database: name a Secret .* database\.existingSecret/],
    ['two databases', ['embedded'], { database: { existingSecret: 'pg' } }, /embedded\.enabled and database are both/],
    ['two origins of the URL', ['postgres'], { database: { url: 'postgres://db/h' } }, /keep one of them/],
    ['two servers on an embedded database', ['embedded'], { replicas: 2 }, /wants replicas: 1, not 2: one process/],
    [
      'two origins of the key',
      ['postgres'],
      { secretKey: { existingSecret: 'keys', value: `${'A'.repeat(43)}=` } },
      /secretKey\.existingSecret and secretKey\.value are both set/,
    ],
    [
      'two sources of one name',
      ['embedded'],
      { sources: [{ name: 'office', configMap: 'other' }] },
      /two sources are called office/,
    ],
    [
      'to collect metrics that nobody may read',
      ['postgres'],
      { serviceMonitor: { enabled: true } },
      /set server\.metricsPort, or name a Secret in serviceMonitor\.tokenSecret, or add \/metrics to server\.openEndpoints/,
    ],
    [
      'metrics on the port of the API',
      ['postgres'],
      { server: { metricsPort: 8080 } },
      /metricsPort and server\.port are the same/,
    ],
    ['a grant that names no value', ['postgres'], { server: { valueGrants: ['team'] } }, /valueGrants/],
    ['a port that is none', ['postgres'], { server: { metricsPort: 80 } }, /metricsPort/],
    [
      'to read resources of Kubernetes without a rule',
      ['postgres'],
      { kubernetes: { enabled: true } },
      /kubernetes\.namespaces has no rule, so no namespace would be read; say which ones, by names or by a selector/,
    ],
    [
      'to give its rights to every pod',
      ['postgres'],
      { kubernetes: { enabled: true, namespaces: [{ names: ['a'] }] }, serviceAccount: { create: false } },
      /the service account default; name another one in serviceAccount\.name/,
    ],
    [
      'two sources of the server with one name',
      ['postgres'],
      {
        kubernetes: { enabled: true, namespaces: [{ names: ['a'] }] },
        serverConfig: { sources: [{ name: 'k8s', type: 'git' }] },
      },
      /a source of serverConfig is called k8s already; give one of them another name/,
    ],
    [
      'a mount that would never change (E129)',
      ['postgres'],
      { extraVolumeMounts: [{ name: 'x', mountPath: '/x', subPath: 'a.yaml' }] },
      /the mount at \/x has a subPath/,
    ],
  ])('%s', async (_, values, over, message) => {
    expect(await refusal({ values, over })).toMatch(message);
  });

  test('documents of more than 1 MiB, in bytes, before anything is made (E144)', async () => {
    // Letters of two bytes: characters do not count.
    const config = { 'a.yaml': 'ä'.repeat(mebibyte / 4), 'b.yaml': 'a'.repeat(mebibyte / 2) };
    await render({ values: ['postgres'], over: { config } });
    const larger = { ...config, 'c.yaml': '#' };
    expect(await refusal({ values: ['postgres'], over: { config: larger } })).toMatch(
      /config holds 1048577 bytes in 3 files, and a ConfigMap holds 1048576 \(1 MiB\) at the most; spread/,
    );
  });
});

describe('the schema of the values refuses', () => {
  const closed = [...objectsBelow(at(schema, 'properties'))]
    .filter(([path, object]) => object['additionalProperties'] === false && !path.includes('items'))
    .map(([path]) => path.filter((step) => step !== 'properties'));

  test.each([[], ...closed].map((path) => [path.join('.')]))('a value that it does not know in `%s`', async (path) => {
    const steps = path === '' ? [] : path.split('.');
    const over = steps.reduceRight<object>((inner, step) => ({ [step]: inner }), { unheardOf: 1 });
    expect(await refusal({ values: ['postgres'], over })).toContain("additional properties 'unheardOf' not allowed");
  });

  test.each<[string, object]>([
    ['a count as text', { replicas: '2' }],
    ['a document that is not text', { config: { 'a.yaml': { kind: 'Group' } } }],
    ['a document that no reader would look at', { config: { 'notes.txt': 'x' } }],
    ['a name that no ConfigMap takes', { config: { 'a/b.yaml': 'x' } }],
    ['a source without an origin', { sources: [{ name: 'a' }] }],
    ['a source with two origins', { sources: [{ name: 'a', configMap: 'b', secret: 'c' }] }],
    ['a source with a name that is none', { sources: [{ name: 'a b', configMap: 'b' }] }],
    ['an endpoint that cannot be opened', { server: { openEndpoints: ['/api/groups'] } }],
    ['an edition that is none', { server: { edition: 'cloud' } }],
    ['a rate limit in words', { server: { rateLimit: 'many' } }],
    ['a port that needs root', { server: { port: 80 } }],
    ['a token that is none', { bootstrapToken: { value: 'secret' } }],
    ['a key that is too short', { secretKey: { value: 'AAAA' } }],
    ['the URL of another database', { database: { existingSecret: '', url: 'mysql://db/heddle' } }],
    ['an Ingress without a host', { ingress: { enabled: true } }],
    ['an amount that is none', { resources: { limits: { memory: 'much' } } }],
    ['a digest that is none', { image: { digest: 'latest' } }],
    ['a rule that covers no namespace', { kubernetes: { namespaces: [{ scope: {} }] } }],
    ['a rule by names and by a selector', { kubernetes: { namespaces: [{ names: ['a'], selector: { x: {} } }] } }],
    ['a rule that is mistyped', { kubernetes: { namespaces: [{ names: ['a'], scopes: {} }] } }],
    ['an annotation that is no text', { podAnnotations: { scrape: true } }],
  ])('%s', async (_, over) => {
    expect(await refusal({ values: ['postgres'], over })).toContain("values don't meet the specifications");
  });

  test('nothing that a parent chart hands down', async () => {
    await render({ values: ['postgres'], over: { global: { imageRegistry: 'registry.example.com' } } });
  });
});
