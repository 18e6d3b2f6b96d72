import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { sealPlaceOf } from '../../src/model/schema/secret-fields.ts';
import { type Answer, type Conversation, statusOf } from './conversation.ts';
import { cluster, group, groups, listed, resource, running } from './scripted-cluster.ts';

const channels = '/apis/heddle.dev/v1/notificationchannels';
const secretPath = '/api/v1/namespaces/team-a/secrets/hook';

function channel(name: string, key = 'authorization', secret = 'hook') {
  const headers = { Authorization: { valueFrom: { secretKeyRef: { name: secret, key } } } };
  const target = { url: 'https://hooks.example.com/mesh', headers };
  return resource('NotificationChannel', name, { type: 'webhook', target, event_types: ['user.join'] });
}

function secret(data: Readonly<Record<string, string>>, type = 'Opaque'): Answer {
  return {
    body: { ...{ apiVersion: 'v1', kind: 'Secret', type, data }, metadata: { name: 'hook', resourceVersion: '1' } },
  };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const holding = (text: string) => secret({ authorization: base64(text) });
const absent: Answer = { status: 404, body: statusOf(404, 'NotFound', 'secrets "hook" not found') };

/** Returns the conversation of a cluster with channels and the Secret that they refer to. */
function withChannels(names: readonly string[], answers: readonly Answer[], others: Conversation = {}): Conversation {
  return cluster(['a'], {
    [channels]: {
      lists: [listed(...names.map((name) => channel(name)))],
    },
    [secretPath]: { lists: answers },
    ...others,
  });
}

async function reading(conversation: Conversation, secrets: { readonly read?: boolean } = { read: true }) {
  const found = await running(conversation, { secrets });
  const { office, server } = found;
  const state = () => office.engine.snapshots.fresh(office.account);
  return {
    ...found,
    /** Returns the `Authorization` header of the channel in plain text, or `undefined` when it has none. */
    async header(name = 'web') {
      const object = (await state()).findByKey('NotificationChannel', name);
      const target = object?.spec['target'] as { readonly headers?: Readonly<Record<string, string>> } | undefined;
      const sealed = target?.headers?.['Authorization'];
      if (object === undefined || sealed === undefined) return undefined;
      const place = sealPlaceOf(office.account, object.id, ['target', 'headers', 'Authorization']);
      return office.engine.planEnvironment.vault.open(sealed, place);
    },
    revision: async () => (await state()).revision,
    gets: () => server.requests.filter((request) => request === `GET ${secretPath}`).length,
    /** Makes the server reconcile again by adding a group, and waits until the group was created. */
    async touch(name: string) {
      server.say(groups, { type: 'ADDED', object: group(name) });
      await expect.poll(office.groups).toContain(name);
    },
  };
}

describe('a key of a Secret', () => {
  test('is named in a resource as in the example of docs/kubernetes.md', async () => {
    const page = readFileSync('docs/kubernetes.md', 'utf8');
    const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => parse(text));
    const { spec } = blocks.find(({ kind }) => kind === 'NotificationChannel');
    const shown = resource('NotificationChannel', 'web', spec);
    const others = { [channels]: { lists: [listed(shown)] } };
    const { header } = await reading(withChannels([], [holding('Bearer first')], others));
    await expect.poll(() => header()).toBe('Bearer first');
  });

  test('is the value of every field that names it, and is read only once', async () => {
    const { header, gets } = await reading(withChannels(['web', 'chat'], [holding('Bearer first\n')]));
    await expect.poll(() => header()).toBe('Bearer first');
    expect(await header('chat')).toBe('Bearer first');
    expect(gets()).toBe(1);
  });

  test('E120: is read again with each reconcile, and applied when it changed', async () => {
    const { header, touch, revision } = await reading(
      withChannels(['web'], [holding('Bearer first'), holding('Bearer first'), holding('Bearer second')]),
    );
    await expect.poll(() => header()).toBe('Bearer first');
    const before = await revision();
    await touch('b');
    expect([await header(), await revision()]).toEqual(['Bearer first', before + 1]);
    await touch('c');
    expect(await header()).toBe('Bearer second');
  });

  test('E121: keeps its resource from being applied while it is missing', async () => {
    const { office, header, problems } = await reading(withChannels(['web'], [absent, absent, holding('Bearer late')]));
    await expect.poll(office.groups).toEqual(['a']);
    await expect.poll(problems).toMatchObject([
      {
        ...{ code: 'secret_unset', file: 'team-a/notificationchannels/web.json', key: 'web' },
        path: '/spec/target/headers/Authorization/valueFrom',
        message: expect.stringContaining('the namespace team-a has no Secret `hook`; create it'),
      },
    ]);
    await expect.poll(() => header(), { timeout: 15_000 }).toBe('Bearer late');
    await expect.poll(problems).toEqual([]);
  });

  test('leaves the applied value in place when it is deleted', async () => {
    const { header, touch, problems } = await reading(withChannels(['web'], [holding('Bearer first'), absent]));
    await expect.poll(() => header()).toBe('Bearer first');
    await touch('b');
    await expect.poll(problems).toMatchObject([{ code: 'secret_unset' }]);
    expect(await header()).toBe('Bearer first');
  });

  test.each<readonly [string, Answer, RegExp]>([
    ['is not among those of the Secret', secret({ other: base64('x') }), /has no key `authorization`; add it/],
    ['is empty', holding('\n'), /`authorization` of the Secret `hook` .* is empty/],
    ['is no base64', secret({ authorization: '#private#' }), /is not UTF-8 text/],
    ['is no text', secret({ authorization: Buffer.from([0xff, 0xfe]).toString('base64') }), /is not UTF-8 text/],
    ['is longer than its field permits', holding('x'.repeat(70_000)), /must have at most \d+ characters; it has 70000/],
    [
      'lets in to the cluster',
      secret({ authorization: base64('t') }, 'kubernetes.io/service-account-token'),
      /has the type kubernetes.io\/service-account-token, which documents may not use/,
    ],
    [
      'is denied',
      { status: 403, body: statusOf(403, 'Forbidden', 'secrets "hook" is forbidden') },
      /cannot be read: the API server answered 403: secrets "hook" is forbidden; give the server the right/,
    ],
  ])('that %s is a problem only of the resource that names it', async (_, answer, reason) => {
    const { office, problems, message, header } = await reading(withChannels(['web'], [answer]));
    await expect.poll(office.groups).toEqual(['a']);
    await expect
      .poll(problems)
      .toMatchObject([{ kind: 'NotificationChannel', message: expect.stringMatching(reason) }]);
    expect(await header()).toBeUndefined();
    expect(JSON.stringify([await problems(), await message()])).not.toMatch(/#private#|xxx/);
  });

  test('is not read when the name of the Secret contains a path to another namespace', async () => {
    const elsewhere = channel('web', 'authorization', '../../other/secrets/hook');
    const { problems, server } = await reading(cluster([], { [channels]: { lists: [listed(elsewhere)] } }));
    await expect
      .poll(problems)
      .toMatchObject([{ message: expect.stringContaining('is not a valid name of a Secret') }]);
    expect(server.requests.filter((request) => request.includes('secrets'))).toEqual([]);
  });

  test('is not read unless the settings of the cluster permit it', async () => {
    const { problems, gets } = await reading(withChannels(['web'], [holding('Bearer first')]), {});
    await expect
      .poll(problems)
      .toMatchObject([
        { message: expect.stringMatching(/reads no Secrets of this cluster; .* `secrets: { read: true }`/) },
      ]);
    expect(gets()).toBe(0);
  });

  test('makes the source unavailable while the API server cannot return it', async () => {
    const busy = { status: 503, body: statusOf(503, 'ServiceUnavailable', 'etcd is away') };
    const { header, message, server } = await reading(withChannels(['web'], [busy]));
    await expect.poll(message).toMatch(/Secrets that resources name cannot be read: the API server answered 503/);
    server.turnTo(withChannels(['web'], [holding('Bearer first')]));
    await expect.poll(() => header()).toBe('Bearer first');
  });

  test('E122: is in no log, status, event, revision or plan', async () => {
    const { office, server, runner, header, touch } = await reading(
      withChannels(['web'], [holding('Bearer verysecret'), holding('Bearer othersecret')]),
    );
    await expect.poll(() => header()).toBe('Bearer verysecret');
    await touch('b');
    await expect.poll(() => header()).toBe('Bearer othersecret');
    const tables = await office.rows(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const stored = await Promise.all(tables.map(({ name }) => office.rows(`select t::text as text from "${name}" t`)));
    expect(stored.flat().length).toBeGreaterThan(10);
    expect(JSON.stringify([stored, server.bodies, runner.reports])).not.toMatch(/verysecret|othersecret/);
  });
});
