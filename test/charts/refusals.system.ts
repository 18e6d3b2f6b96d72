import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startCluster } from './cluster.ts';
import { at, foreignKinds, refusal, render } from './render.ts';
import { objectsBelow } from './shape.ts';

const mebibyte = 1024 * 1024;
const schema: unknown = JSON.parse(readFileSync('charts/heddle/values.schema.json', 'utf8'));

describe('the chart', () => {
  test.each<[string, readonly string[], object, RegExp]>([
    ['to run without a database', [], {}, /Heddle needs a database: name a Secret .* database\.existingSecret/],
    ['two databases', ['embedded'], { database: { existingSecret: 'pg' } }, /embedded\.enabled and database are both/],
    ['two origins of the URL', ['postgres'], { database: { url: 'postgres://db/h' } }, /keep one of them/],
    [
      'two servers on an embedded database',
      ['embedded'],
      { replicas: 2 },
      /requires replicas: 1 \(or 0 to stop the server\), not 2: only one process/,
    ],
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
      /two sources have the name office/,
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
      /metricsPort and server\.port are equal/,
    ],
    ['a grant that names no value', ['postgres'], { server: { valueGrants: ['team'] } }, /valueGrants/],
    ['a port that is none', ['postgres'], { server: { metricsPort: 80 } }, /metricsPort/],
    [
      'to read resources of Kubernetes without a rule',
      ['postgres'],
      { kubernetes: { enabled: true } },
      /kubernetes\.namespaces has no rule, so no namespace would be read; select namespaces by names or by a selector/,
    ],
    [
      'labels of namespaces that nobody may list',
      ['postgres'],
      { kubernetes: { enabled: true, clusterWide: false, namespaces: [{ selector: { matchLabels: { a: 'b' } } }] } },
      /kubernetes\.clusterWide: a rule of kubernetes\.namespaces has a selector/,
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
      /a source of serverConfig already has the name k8s; rename one of them/,
    ],
    [
      'to replace pods of the embedded database one by one',
      ['embedded'],
      { strategy: { type: 'RollingUpdate' } },
      /strategy: the embedded database needs type: Recreate, .* omit strategy/,
    ],
    [
      'to kill servers before they are done',
      ['postgres'],
      { terminationGracePeriodSeconds: 14 },
      /terminationGracePeriodSeconds is 14, but a server needs up to 15 seconds to shut down \(preStopSeconds and/,
    ],
    [
      'a second container of the name',
      ['postgres'],
      { extraContainers: [{ name: 'heddle' }] },
      /the container name heddle is reserved for the server; give the container another name/,
    ],
    [
      'a container that hides it',
      ['postgres'],
      { initContainers: [{ name: 'heddle' }] },
      /^initContainers: the container name heddle is reserved/,
    ],
    [
      'a port on the nodes of a Service without one',
      ['postgres'],
      { service: { nodePort: 30080 } },
      /service\.nodePort: a Service of type ClusterIP accepts no traffic from outside the cluster; set service\.type to NodePort/,
    ],
    [
      'a traffic policy for traffic that does not come',
      ['postgres'],
      { service: { externalTrafficPolicy: 'Local' } },
      /service\.externalTrafficPolicy: a Service of type ClusterIP/,
    ],
    [
      'a class of load balancers without one',
      ['postgres'],
      { service: { type: 'NodePort', loadBalancerClass: 'internal' } },
      /service\.loadBalancerClass only applies to a Service of type LoadBalancer; set service\.type/,
    ],
    [
      'ranges of a load balancer without one',
      ['postgres'],
      { service: { loadBalancerSourceRanges: ['10.0.0.0/8'] } },
      /service\.loadBalancerSourceRanges only applies to a Service of type LoadBalancer/,
    ],
    [
      'two families of addresses where there is one',
      ['postgres'],
      { service: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] } },
      /use PreferDualStack or RequireDualStack/,
    ],
    [
      'to leave out an alert that there is not',
      ['postgres'],
      { prometheusRule: { without: ['HeddleDown'] } },
      /the alert HeddleDown does not exist; the alerts are HeddleAway, HeddleRequestsFail, /,
    ],
    [
      'to collect metrics with a token that no server takes',
      ['postgres'],
      { serviceMonitor: { enabled: true, tokenSecret: 'metrics' } },
      /without operatorToken\.existingSecret each server generates its own token and accepts no other/,
    ],
    [
      'a port of the database that the NetworkPolicy would cut off',
      [],
      { database: { url: 'postgres://heddle:a%2Fb@a:5432,b:6432/heddle?sslmode=verify-full' } },
      /^networkPolicy\.postgres\.ports does not allow the port 6432 of the URL in database; add it/,
    ],
    [
      'a port of the identity provider that it would cut off',
      ['postgres'],
      { oidc: { issuer: 'https://id.example.com:8443/realms/a', audience: ['a'] } },
      /identityProvider\.ports does not allow the port 8443/,
    ],
    [
      'mails from nobody',
      ['postgres'],
      { smtp: { existingSecret: 'mail' } },
      /mail needs a sender address; set smtp\.from/,
    ],
    [
      'to read an identity provider without a name',
      ['postgres'],
      { oidc: { audience: ['a'] } },
      /are settings of an identity provider; set its URL in oidc\.issuer/,
    ],
    [
      'tokens for everybody',
      ['postgres'],
      { oidc: { issuer: 'https://id.example.com' } },
      /set oidc\.audience to the audience that tokens must contain/,
    ],
    [
      'an object that is none',
      ['postgres'],
      { extraObjects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, { kind: 'Secret' }] },
      /extraObjects: object 2 has no apiVersion, kind or metadata\.name; write the complete object/,
    ],
    [
      'a mount that would never change (E129)',
      ['postgres'],
      { extraVolumeMounts: [{ name: 'x', mountPath: '/x', subPath: 'a.yaml' }] },
      /the mount at \/x has a subPath/,
    ],
  ])('refuses %s', async (_, values, over, message) => {
    expect(await refusal({ values, over })).toMatch(message);
  });

  test.each([
    ['httpRoute', 'gateway.networking.k8s.io/v1/HTTPRoute'],
    ['serviceMonitor', 'monitoring.coreos.com/v1/ServiceMonitor'],
    ['prometheusRule', 'monitoring.coreos.com/v1/PrometheusRule'],
  ])('refuses %s when the cluster does not know its kind', async (value, missing) => {
    const kinds = foreignKinds.filter((kind) => kind !== missing);
    const all = ['httpRoute', 'serviceMonitor', 'prometheusRule'];
    const over = Object.fromEntries(all.map((name) => [name, { enabled: name === value }]));
    await render({ values: ['operators'], over });
    expect(await refusal({ values: ['operators'], over, kinds })).toContain(
      `${value}.enabled: the cluster has no ${missing}; install its CRD, or omit ${value}`,
    );
  });

  test.each([
    ['database', 'postgres', 'postgres://heddle:pass@db.internal:25060/heddle', '25060'],
    ['smtp', 'smtp', 'smtp://heddle:pass@mail.internal:2525', '2525'],
  ])(
    'refuses a port in the Secret of %s that the NetworkPolicy blocks, without showing the rest of the URL',
    async (...row) => {
      const [value, peer, url, port] = row;
      const metadata = { name: 'urls', namespace: 'mesh' };
      const data = { url: Buffer.from(`${url}\n`).toString('base64') };
      await using cluster = await startCluster([{ apiVersion: 'v1', kind: 'Secret', metadata, data }]);
      const options = {
        ...{ values: ['postgres'], kubeconfig: cluster.kubeconfig },
        args: ['--dry-run=server', '--disable-openapi-validation'],
      };
      const over = { serverConfig: { mailFrom: 'a@example.com' }, [value]: { existingSecret: 'urls', key: 'url' } };
      const said = await refusal({ ...options, over });
      expect(said).toContain(
        `networkPolicy.${peer}.ports does not allow the port ${port} of the URL in ${value}; add it`,
      );
      expect(said).not.toContain('pass');
      await render({ ...options, over: { ...over, networkPolicy: { [peer]: { ports: [Number(port)] } } } });
      await render({ ...options, over: { ...over, networkPolicy: { enabled: false } } });
    },
  );

  test('refuses documents of more than 1 MiB, in bytes, before anything is created (E144)', async () => {
    // Letters of two bytes, because the limit counts bytes, not characters.
    const config = { 'a.yaml': 'ä'.repeat(mebibyte / 4), 'b.yaml': 'a'.repeat(mebibyte / 2) };
    await render({ values: ['postgres'], over: { config } });
    const larger = { ...config, 'c.yaml': '#' };
    expect(await refusal({ values: ['postgres'], over: { config: larger } })).toMatch(
      /config contains 1048577 bytes in 3 files, and the maximum size of a ConfigMap is 1048576 bytes \(1 MiB\); distribute/,
    );
  });
});

describe('the schema of the values', () => {
  const closed = [...objectsBelow(at(schema, 'properties'))]
    .filter(([path, object]) => object['additionalProperties'] === false && !path.includes('items'))
    .map(([path]) => path.filter((step) => step !== 'properties'));

  test.each([[], ...closed].map((path) => [path.join('.')]))('refuses an unknown value in `%s`', async (path) => {
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
    ['an HTTPRoute without a Gateway', { httpRoute: { enabled: true } }],
    ['a probe that asks otherwise', { probes: { liveness: { exec: { command: ['true'] } } } }],
    ['a strategy without a type', { strategy: { rollingUpdate: { maxSurge: 1 } } }],
    ['a lease that is too long', { server: { leaseSeconds: 301 } }],
    ['a transport that is none', { server: { gitTransports: ['http'] } }],
    ['a claim of nothing that is known', { oidc: { claims: { phone: 'tel' } } }],
    ['an origin with a path', { server: { corsOrigins: ['https://console.example.com/'] } }],
    ['a peer without ports', { networkPolicy: { postgres: { ports: [] } } }],
    ['a path that is none', { ingress: { path: 'api' } }],
    ['a selector that is none', { prometheusRule: { selector: 'heddle' } }],
    ['an annotation that is no text', { podAnnotations: { scrape: true } }],
  ])('refuses %s', async (_, over) => {
    expect(await refusal({ values: ['postgres'], over })).toContain("values don't meet the specifications");
  });

  test('accepts the global values of a parent chart', async () => {
    await render({ values: ['postgres'], over: { global: { imageRegistry: 'registry.example.com' } } });
  });
});
