import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { allCommands } from '../../src/cli/commands.ts';
import { type Config, readConfig, settings } from '../../src/config.ts';
import { readNamedSources } from '../../src/features/sources/names.ts';
import { callFault } from '../setup/command-lines.ts';
import { at, only, render } from './render.ts';
import { containerOf, environmentOf, podOf, type Variable } from './shape.ts';

const everything = parse(readFileSync(new URL('values/everything.yaml', import.meta.url), 'utf8'));

describe('the documents of the chart', () => {
  test('are rendered into the ConfigMap byte for byte', async () => {
    const config = { ...everything.config, 'last.json': '{"kind": "Group"}', 'deep.yaml': '\n  # {{ .Values }}\n\n' };
    const manifests = await render({ values: ['everything'], over: { config } });
    expect(at(only(manifests, 'ConfigMap', '-config'), 'data')).toEqual(config);
  });

  test('are a source with the name of the release, in a directory that the server watches', async () => {
    const manifests = await render({ values: ['embedded'] });
    expect(environmentOf(manifests)['HEDDLE_SOURCE']).toBe('office=/etc/heddle/config');
    expect(at(containerOf(manifests), 'volumeMounts')).toContainEqual({
      name: 'config',
      mountPath: '/etc/heddle/config',
      readOnly: true,
    });
    expect(at(podOf(manifests), 'volumes')).toContainEqual({
      name: 'config',
      configMap: { name: 'office-heddle-config' },
    });
  });

  test('are a source beside those of other ConfigMaps, Secrets and volumes', async () => {
    const manifests = await render({ values: ['everything'] });
    const sources = await readNamedSources((environmentOf(manifests)['HEDDLE_SOURCE'] ?? '').split(','));
    expect(sources).toMatchObject([
      { name: 'office', path: '/etc/heddle/config' },
      { name: 'team-a', path: '/etc/heddle/sources/team-a' },
      { name: 'team-b', path: '/etc/heddle/sources/team-b' },
      { name: 'team-c', path: '/srv/team-c' },
    ]);
    const mounted = at(containerOf(manifests), 'volumeMounts') as readonly { readonly mountPath: string }[];
    const paths = mounted.map(({ mountPath }) => mountPath);
    expect(sources.filter(({ path }) => !paths.includes(path))).toEqual([]);
  });

  test('may be absent, which leaves out the source and the ConfigMap', async () => {
    const manifests = await render({ values: ['postgres'] });
    expect(environmentOf(manifests)).not.toHaveProperty('HEDDLE_SOURCE');
    expect(manifests.filter(({ kind }) => kind === 'ConfigMap')).toEqual([]);
  });
});

describe('a change of the values', () => {
  const checksums = async (over: object) => {
    const deployment = only(await render({ values: ['embedded'], over }), 'Deployment');
    return { release: deployment.metadata.annotations, pod: at(deployment, 'spec.template.metadata.annotations') };
  };
  const documents = (text: string) => ({ config: { 'groups.yaml': text } });

  test('in documents changes the checksum of the Deployment and leaves the pods running', async () => {
    const [before, after] = [await checksums(documents('a')), await checksums(documents('b'))];
    expect(after.release?.['checksum/config']).not.toBe(before.release?.['checksum/config']);
    expect(after.pod).toEqual(before.pod);
  });

  test('in documents replaces the pods with restartOnConfigChange', async () => {
    const asked = { restartOnConfigChange: true };
    const before = await checksums({ ...documents('a'), ...asked });
    expect((await checksums({ ...documents('b'), ...asked })).pod).not.toEqual(before.pod);
  });

  test.each([
    ['the configuration of the server', { serverConfig: { sources: [{ name: 'git' }] } }],
    ['the key', { secretKey: { value: `${'A'.repeat(43)}=` } }],
    ['the token', { bootstrapToken: { value: `nbp_${'a'.repeat(36)}` } }],
  ])('in %s replaces the pods', async (_, over) => {
    expect((await checksums(over)).pod).not.toEqual((await checksums({})).pod);
  });

  test('is not caused by generated keys: equal values leave the pods running', async () => {
    expect((await checksums({})).pod).toEqual((await checksums({})).pod);
  });
});

describe('the database', () => {
  test('is Postgres with its URL in an existing Secret', async () => {
    const manifests = await render({ values: ['everything'] });
    expect(at(containerOf(manifests), 'env')).toContainEqual({
      name: 'HEDDLE_DATABASE_URL',
      valueFrom: { secretKeyRef: { name: 'heddle-postgres', key: 'uri' } },
    });
    expect(manifests.filter(({ kind }) => kind === 'Secret' || kind === 'PersistentVolumeClaim')).toEqual([]);
  });

  test('may be given by its URL, which is stored in the Secret of the chart', async () => {
    const url = 'postgres://heddle:p%40ss@db:5432/heddle?sslmode=verify-full';
    const manifests = await render({ over: { database: { url } } });
    const reference = { name: 'office-heddle', key: 'database-url' };
    expect(at(containerOf(manifests), 'env')).toContainEqual({
      name: 'HEDDLE_DATABASE_URL',
      valueFrom: { secretKeyRef: reference },
    });
    const stored = String(at(only(manifests, 'Secret'), 'data.database-url'));
    expect(Buffer.from(stored, 'base64').toString()).toBe(url);
    expect(JSON.stringify(manifests)).not.toContain('p%40ss');
  });

  test('may be embedded, on a volume that is kept on uninstall', async () => {
    const manifests = await render({ values: ['embedded'] });
    expect(only(manifests, 'PersistentVolumeClaim').metadata).toMatchObject({
      name: 'office-heddle-data',
      annotations: { 'helm.sh/resource-policy': 'keep' },
    });
    expect(at(podOf(manifests), 'volumes.0')).toEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'office-heddle-data' },
    });
    expect(at(only(manifests, 'Deployment'), 'spec.strategy')).toEqual({ type: 'Recreate' });
    expect(at(containerOf(manifests), 'env')).not.toContainEqual(
      expect.objectContaining({ name: 'HEDDLE_DATABASE_URL' }),
    );
  });

  test.each([
    ['a claim that exists', { existingClaim: 'old' }, { persistentVolumeClaim: { claimName: 'old' } }],
    ['no volume at all', { enabled: false }, { emptyDir: {} }],
  ])('may be embedded on %s', async (_, persistence, volume) => {
    const manifests = await render({ values: ['embedded'], over: { embedded: { persistence } } });
    expect(at(podOf(manifests), 'volumes.0')).toEqual({ name: 'data', ...volume });
    expect(manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
  });
});

describe('replicas of the server', () => {
  test('roll out one by one, are spread over the nodes, and have a disruption budget', async () => {
    const manifests = await render({ values: ['postgres'], over: { replicas: 2 } });
    expect(at(only(manifests, 'Deployment'), 'spec')).toMatchObject({
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    expect(at(only(manifests, 'PodDisruptionBudget'), 'spec.maxUnavailable')).toBe(1);
    expect(at(podOf(manifests), 'topologySpreadConstraints.0.topologyKey')).toBe('kubernetes.io/hostname');
  });

  test('have neither a disruption budget nor a spread when there is only one', async () => {
    const manifests = await render({ values: ['postgres'] });
    expect(manifests.filter(({ kind }) => kind === 'PodDisruptionBudget')).toEqual([]);
    expect(podOf(manifests)).not.toHaveProperty('topologySpreadConstraints');
  });
});

describe('the metrics', () => {
  test('are collected with a token, or without one when the endpoint is open', async () => {
    const token = {
      operatorToken: { existingSecret: 'heddle-metrics', key: 'token' },
      serviceMonitor: { enabled: true, tokenSecret: 'heddle-metrics' },
    };
    const closed = only(await render({ values: ['postgres'], over: token }), 'ServiceMonitor');
    expect(at(closed, 'spec.endpoints.0')).toMatchObject({
      port: 'http',
      path: '/metrics',
      authorization: { type: 'Bearer', credentials: { name: 'heddle-metrics', key: 'token' } },
    });
    const over = { serviceMonitor: { enabled: true }, server: { openEndpoints: ['/metrics'] } };
    const manifests = await render({ values: ['postgres'], over });
    const open = only(manifests, 'ServiceMonitor');
    expect(at(open, 'spec.endpoints.0')).not.toHaveProperty('authorization');
    expect(only(manifests, 'Service').metadata.labels).toMatchObject(Object(at(open, 'spec.selector.matchLabels')));
  });
});

describe('the settings of the server', () => {
  test('are passed in the form that the server reads', async () => {
    const manifests = await render({ values: ['everything'] });
    const given = environmentOf(manifests);
    expect(given).toMatchObject({
      HEDDLE_PUBLIC_URL: 'https://heddle.example.com',
      HEDDLE_TRUST_PROXY: '1',
      HEDDLE_WAIT_FOR_DATABASE: '120s',
      HEDDLE_OPERATOR_ACCOUNT: 'd41b2f3a9c',
      HEDDLE_DIRECTORY_HOSTS: 'directory.internal=https://sign-in.internal https://graph.internal',
      HEDDLE_OUTBOUND_ALLOW: '10.1.0.0/16,git.internal',
      HEDDLE_OUTBOUND_GUARD: 'proxy',
      HEDDLE_VALUE_GRANTS: 'd41b2f3a9c/team=file:token,d41b2f3a9c/team=file:git@git.example.com',
      HEDDLE_SHARE_VALUES: 'true',
      HEDDLE_MAIL_FROM: 'Heddle <heddle@example.com>',
    });
    expect(at(containerOf(manifests), 'env')).toContainEqual({
      name: 'HEDDLE_SMTP_URL',
      valueFrom: { secretKeyRef: { name: 'heddle-mail', key: 'url' } },
    });
    const all = Object.keys(settings) as (keyof Config)[];
    expect(readConfig({ ...given, HEDDLE_SMTP_URL: 'smtp://mail.example.com' }, {}, all)).toMatchObject({ ok: true });
  });

  test('of `heddle serve` all have a value in the chart', async () => {
    const manifests = [...(await render({ values: ['everything'] })), ...(await render({ values: ['operators'] }))];
    const containers = manifests.filter(({ kind }) => kind === 'Deployment').map((one) => containerOf([one]));
    const given = containers.flatMap((container) => at(container, 'env') as readonly Variable[]);
    const serve = (await allCommands(() => Promise.reject(new Error('nothing is started here')))).find(
      ({ name }) => name === 'serve',
    );
    const read = (serve?.settings ?? []).flatMap((name) => settings[name].variable ?? []);
    expect(read.length).toBeGreaterThan(50);
    const missing = read.filter((variable) => !given.some(({ name }) => name === variable));
    // The chart sets each of these in its other form: as a flag, a file or a variable.
    expect(missing.sort()).toEqual([
      ...['HEDDLE_BOOTSTRAP_TOKEN', 'HEDDLE_CONFIG', 'HEDDLE_OPERATOR_TOKEN_FILE'],
      ...['HEDDLE_SECRET_KEY', 'HEDDLE_SMTP_URL_FILE'],
    ]);
  });

  test('are left to the settings file when they have no value', async () => {
    const names = Object.keys(environmentOf(await render({ values: ['postgres'] })));
    const file = ['HISTORY_DAYS', 'LEASE', 'IDP', 'CORS_ORIGINS', 'SINGLE_ACCOUNT', 'OIDC_ISSUER', 'PUBLIC_URL'];
    expect(names.filter((name) => file.includes(name.replace('HEDDLE_', '')))).toEqual([]);
  });

  test('may give the metrics a separate port, which is scraped without a token', async () => {
    const manifests = await render({ values: ['operators'] });
    expect(environmentOf(manifests)['HEDDLE_METRICS_LISTEN']).toBe('0.0.0.0:9100');
    expect(at(containerOf(manifests), 'ports')).toContainEqual({
      name: 'metrics',
      containerPort: 9100,
      protocol: 'TCP',
    });
    expect(at(only(manifests, 'Service', '-metrics'), 'spec.ports')).toMatchObject([{ name: 'metrics', port: 9100 }]);
    expect(at(only(manifests, 'ServiceMonitor'), 'spec.endpoints')).toEqual([
      { port: 'metrics', path: '/metrics', interval: '1m' },
    ]);
  });
});

describe('the server of the chart', () => {
  test.each(['postgres', 'embedded'])(
    'and its test pod run commands that exist, with the values of %s',
    async (values) => {
      const manifests = await render({ values: [values] });
      for (const container of [containerOf(manifests), at(only(manifests, 'Pod'), 'spec.containers.0')])
        expect(callFault(at(container, 'args') as readonly string[])).toBeUndefined();
    },
  );

  test('gets the path of its settings file, if there is one', async () => {
    const manifests = await render({ values: ['everything'] });
    expect(at(containerOf(manifests), 'args')).toEqual(['serve', '--config', '/etc/heddle/server/heddle.yaml']);
    expect(at(containerOf(manifests), 'volumeMounts')).toContainEqual({
      name: 'server',
      mountPath: '/etc/heddle/server',
      readOnly: true,
    });
    const text = at(only(manifests, 'ConfigMap', '-server'), 'data') as Readonly<Record<string, string>>;
    expect(parse(text['heddle.yaml'] ?? '')).toMatchObject({
      sources: [...everything.serverConfig.sources, { name: 'mesh', type: 'kubernetes' }],
    });
  });
});
