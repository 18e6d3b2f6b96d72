import { describe, expect, test } from 'vitest';
import { describeNonPublic } from '../../src/lib/net/public-address.ts';
import { at, only, type RenderOptions, render } from './render.ts';

const postgres = (over: object): RenderOptions => ({ values: ['postgres'], over });
const rules = [{ names: ['a'] }];

async function specOf(kind: string, options: RenderOptions, suffix = ''): Promise<unknown> {
  return only(await render(options), kind, suffix)['spec'];
}

describe('the Service', () => {
  test('is exposed outside the cluster as the values state', async () => {
    expect(await specOf('Service', { values: ['everything'] })).toMatchObject({
      type: 'LoadBalancer',
      loadBalancerClass: 'example.com/internal',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      externalTrafficPolicy: 'Local',
      ports: [{ name: 'http', port: 443, nodePort: 30443, targetPort: 'http' }],
    });
  });

  test.each(['-heddle', '-metrics'])('%s has the requested IP families', async (suffix) => {
    const spec = await specOf('Service', { values: ['operators'] }, suffix);
    expect(spec).toMatchObject({ ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] });
  });

  test('leaves all other fields to the cluster', async () => {
    expect(Object.keys(Object(await specOf('Service', postgres({})))).sort()).toEqual(['ports', 'selector', 'type']);
  });
});

describe('access to the API', () => {
  test('is routed by an Ingress, at the path that its controller requires', async () => {
    expect(await specOf('Ingress', { values: ['everything'] })).toMatchObject({
      rules: ['heddle.example.com', '*.mesh.example.com'].map((host) => ({
        host,
        http: { paths: [{ path: '/*', pathType: 'ImplementationSpecific' }] },
      })),
    });
    const plain = await specOf('Ingress', postgres({ ingress: { enabled: true, hosts: ['a.example.com'] } }));
    expect(at(plain, 'rules.0.http.paths.0')).toMatchObject({ path: '/', pathType: 'Prefix' });
  });

  test('is routed by a Gateway, through the Service', async () => {
    const route = await specOf('HTTPRoute', { values: ['operators'] });
    expect(route).toMatchObject({
      parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
      hostnames: ['heddle.example.com'],
      rules: [{ matches: [{ path: { value: '/' } }], timeouts: { request: '0s' } }],
    });
    const service = only(await render({ values: ['operators'] }), 'Service', '-heddle');
    const backend = { group: '', kind: 'Service', name: service.metadata.name, port: 80, weight: 1 };
    expect(at(service, 'spec.ports.0.port')).toBe(80);
    expect(at(route, 'rules.0.backendRefs')).toEqual([backend]);
  });
});

interface Rule {
  readonly to?: readonly { readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] } }[];
  readonly from?: readonly unknown[];
  readonly ports?: readonly { readonly port: number | string; readonly protocol: string }[];
}

/** Returns the rules of the NetworkPolicy. */
async function policy(over: object, values = 'postgres') {
  const spec = await specOf('NetworkPolicy', { values: [values], over });
  // The cast is safe: another test compares the manifest with the types of Kubernetes.
  return spec as { readonly ingress: readonly Rule[]; readonly egress: readonly Rule[] };
}

/** Returns the ports of the rules that list ports. */
const portsOf = (list: readonly Rule[]) =>
  list.flatMap(({ ports }) => (ports === undefined ? [] : [ports.map(({ port }) => port)]));

describe('the NetworkPolicy', () => {
  test('is rendered unless it is switched off', async () => {
    const manifests = await render(postgres({ networkPolicy: { enabled: false } }));
    expect(manifests.filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
    expect(await specOf('NetworkPolicy', postgres({}))).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
  });

  test('allows the pods to reach DNS, Postgres and public addresses, and nothing else', async () => {
    const { egress } = await policy({});
    expect(portsOf(egress)).toEqual([[53, 53, 5353, 5353], [5432]]);
    expect(at(egress, '0.ports')).toContainEqual({ port: 53, protocol: 'UDP' });
    expect(egress).toHaveLength(3);
    expect(at(egress, '2.to')).toHaveLength(2);
  });

  test('treats the same addresses as public as the server does', async () => {
    const { egress } = await policy({});
    const [four, six] = egress[2]?.to ?? [];
    const except = four?.ipBlock?.except ?? [];
    expect(except.filter((range) => describeNonPublic(range.replace(/\/.*/, '')) === undefined)).toEqual([]);
    const around = ['9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0'];
    expect(around.filter((address) => describeNonPublic(address) !== undefined)).toEqual([]);
    expect(four?.ipBlock?.cidr).toBe('0.0.0.0/0');
    expect(six?.ipBlock).toEqual({ cidr: '2000::/3' });
  });

  test.each<[string, object, readonly (readonly number[])[]]>([
    ['the API server', { kubernetes: { enabled: true, namespaces: rules } }, [[5432], [443, 6443]]],
    ['the mail server', { smtp: { existingSecret: 'mail', from: 'a@example.com' } }, [[5432], [25, 465, 587]]],
    ['the identity provider', { oidc: { issuer: 'https://id.mesh', audience: ['a'] } }, [[5432], [443]]],
    ['a pooler', { networkPolicy: { postgres: { ports: [6432] } } }, [[6432]]],
  ])('allows the pods to reach %s when the values configure it', async (_, over, ports) => {
    const { egress } = await policy(over);
    expect(portsOf(egress).slice(1)).toEqual(ports);
  });

  test('allows servers with the embedded database to reach no Postgres', async () => {
    expect(portsOf((await policy({}, 'embedded')).egress)).toHaveLength(1);
  });

  test('narrows each rule to the peers that the values name', async () => {
    const { egress } = await policy({}, 'everything');
    expect(egress).toContainEqual({
      ports: [{ port: 5432, protocol: 'TCP' }],
      to: [{ podSelector: { matchLabels: { 'cnpg.io/cluster': 'heddle-db' } } }],
    });
    expect(egress).toContainEqual({
      ports: [{ port: 6443, protocol: 'TCP' }],
      to: [{ ipBlock: { cidr: '10.9.0.1/32' } }],
    });
  });

  test('allows additional egress rules and the addresses of server.outboundAllow', async () => {
    const outboundAllow = ['10.1.0.0/16', '192.0.2.7', 'fd00::1', 'fd01::/16', 'git.internal'];
    const egress = [{ ports: [{ port: 22 }], to: [{ podSelector: {} }] }];
    const found = await policy({ server: { outboundAllow }, networkPolicy: { publicAddresses: false, egress } });
    const ranges = ['10.1.0.0/16', '192.0.2.7/32', 'fd00::1/128', 'fd01::/16'];
    expect(found.egress.slice(2)).toEqual([{ to: ranges.map((cidr) => ({ ipBlock: { cidr } })) }, ...egress]);
  });

  test('allows connections only to the ports of the server', async () => {
    expect((await policy({})).ingress).toEqual([{ ports: [{ port: 'http', protocol: 'TCP' }] }]);
    expect(portsOf((await policy({}, 'operators')).ingress)).toEqual([['http'], ['metrics']]);
  });

  test('admits the test pod when the values restrict who may connect', async () => {
    const manifests = await render({ values: ['everything'] });
    const from = at(only(manifests, 'NetworkPolicy'), 'spec.ingress.0.from') as readonly object[];
    const test = only(manifests, 'Pod').metadata.labels;
    expect(from).toHaveLength(2);
    expect(test).toMatchObject(Object(at(from, '1.podSelector.matchLabels')));
    const without = await policy({ tests: { enabled: false } }, 'everything');
    expect(without.ingress[0]?.from).toHaveLength(1);
  });

  test('admits to the metrics only the configured peers', async () => {
    const from = (name: string) => [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }];
    const server = { metricsPort: 9100 };
    const own = await policy({ server }, 'everything');
    expect(own.ingress[1]).toEqual({ ports: [{ port: 'metrics', protocol: 'TCP' }], from: from('monitoring') });
    const same = await policy({ server, networkPolicy: { metricsFrom: [] } }, 'everything');
    expect(same.ingress[1]?.from).toEqual(from('ingress'));
  });
});
