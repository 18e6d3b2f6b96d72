import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Answer, statusOf } from './conversation.ts';
import { cluster, listed, resource } from './scripted-cluster.ts';
import { base64, channel, channels, holding, reading, secret, withChannels } from './secret-channels.ts';

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
});
