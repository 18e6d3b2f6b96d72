import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findUnreadOutputs } from '../../src/features/config/plans/outputs.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { documentKinds } from '../model/product.ts';
import { newMemoryOrigin, openSampleAccount } from '../sources/office-source.ts';
import { type Answer, type Conversation, listOf, statusOf } from './conversation.ts';
import { cluster, group, groups, resource, running } from './scripted-cluster.ts';

const keys = '/apis/heddle.dev/v1/setupkeys';
const secrets = '/api/v1/namespaces/team-a/secrets';
const status = '/apis/heddle.dev/v1/namespaces/team-a/setupkeys/ci/status';
const spec = { name: 'CI', type: 'reusable', expires_in: 86_400 };
const named = { 'heddle.dev/output-secret': 'enrol' };

const absent: Answer = { status: 404, body: statusOf(404, 'NotFound', 'not found') };
const made: Answer = { status: 201, body: { metadata: { name: 'enrol', resourceVersion: '1' } } };
const forbidden: Answer = { status: 403, body: statusOf(403, 'Forbidden', 'secrets is forbidden') };

/**
 * Returns the conversation of a cluster with one setup key, the Secret that it names, and the answers to writes of that
 * Secret.
 */
function withKey(found: readonly Answer[], writes: readonly Answer[], others: Conversation = {}): Conversation {
  return cluster(['a'], {
    [keys]: { lists: [listOf([resource('SetupKey', 'ci', spec, 'team-a', named)], '100')] },
    [secrets]: { writes },
    [`${secrets}/enrol`]: { lists: found, writes },
    [status]: { writes: [{ body: { metadata: { name: 'ci', resourceVersion: '1' } } }] },
    ...others,
  });
}

async function writing(conversation: Conversation, settings = { write: true }) {
  const found = await running(conversation, { secrets: settings });
  const { office, server } = found;
  const bodies = (): readonly JsonObject[] => server.bodies.map((body) => JSON.parse(body));
  const written = () => bodies().filter(({ kind }) => kind === 'Secret');
  return {
    ...found,
    written,
    /** Returns the plain text of a key in the Secret that was written last. */
    value(key = 'key') {
      const data = (written().at(-1)?.['data'] ?? {}) as Readonly<Record<string, string>>;
      return Buffer.from(data[key] ?? '', 'base64').toString();
    },
    /** Returns the Secret that was written last, as the API server then stores it. */
    kept: (): Answer => {
      const { metadata, ...rest } = written().at(-1) as { readonly metadata: object };
      return { body: { ...rest, metadata: { ...metadata, uid: 'uid-enrol', resourceVersion: '7' } } };
    },
    /** Returns the last status written for the setup key. */
    shown: () =>
      bodies()
        .filter(({ kind, status: of }) => kind === 'SetupKey' && of !== undefined)
        .at(-1)?.['status'] as JsonObject,
    unread: async () => (await findUnreadOutputs(office.engine, office.account, 'k8s.team-a')).size,
    async key() {
      return (await office.engine.snapshots.fresh(office.account)).findByKey('SetupKey', 'ci');
    },
  };
}

describe('the output Secret of a setup key', () => {
  test('is named by an annotation as in the example of docs/kubernetes.md', async () => {
    const page = readFileSync('docs/kubernetes.md', 'utf8');
    const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => parse(text));
    const { spec: shownSpec, metadata } = blocks.find(({ kind }) => kind === 'SetupKey');
    const shownKey = resource('SetupKey', 'ci', shownSpec, 'team-a', metadata.annotations);
    const others = { [keys]: { lists: [listOf([shownKey], '100')] } };
    const { shown } = await writing(withKey([absent], [made], others));
    await expect.poll(shown).toMatchObject({ outputSecret: 'enrol' });
  });

  test('contains the key, is owned by the resource, and marks the output as read', async () => {
    const { shown, value, key, written, unread, runner, message } = await writing(withKey([absent], [made]));
    await expect
      .poll(shown)
      .toMatchObject({ outputSecret: 'enrol', conditions: [{ type: 'Ready', status: 'True' }, {}, {}, {}, {}] });
    const object = await key();
    expect(sha256Base64(value())).toBe(object?.derived['key_hash']);
    expect(written()).toMatchObject([
      {
        type: 'Opaque',
        metadata: {
          ...{ name: 'enrol', labels: { 'app.kubernetes.io/managed-by': 'heddle' } },
          annotations: { 'heddle.dev/object': object?.id },
          ownerReferences: [{ apiVersion: 'heddle.dev/v1', kind: 'SetupKey', name: 'ci', uid: 'uid-team-a-ci' }],
        },
      },
    ]);
    expect(await unread()).toBe(0);
    expect(await message()).not.toContain(value());
    expect(JSON.stringify(runner.reports)).not.toMatch(/heddle outputs/);
  });

  test('marks the output as read for each of several keys created in one revision', async () => {
    const names = [...'abcdefgh'];
    const of = (name: string) =>
      resource('SetupKey', name, { ...spec, name }, 'team-a', { 'heddle.dev/output-secret': name });
    const { written, unread } = await writing(
      withKey([], [made], { [keys]: { lists: [listOf(names.map(of), '100')] } }),
    );
    await expect.poll(written).toHaveLength(names.length);
    await expect.poll(unread).toBe(0);
  });

  test('is not overwritten when it is a foreign Secret, and the value waits until the name is free', async () => {
    const foreign = {
      body: { metadata: { name: 'enrol', uid: 'u', resourceVersion: '1' }, data: { password: 'eA==' } },
    };
    const { shown, written, unread, server, value } = await writing(withKey([foreign], [made]));
    await expect.poll(shown).toMatchObject({
      problems: [{ code: 'output_secret_taken', path: '/metadata/annotations/heddle.dev~1output-secret' }],
      conditions: [
        { type: 'Ready', status: 'False', reason: 'OutputNotWritten' },
        { status: 'False' },
        { type: 'Stalled', status: 'True' },
        {},
        {},
      ],
    });
    expect([written(), await unread()]).toEqual([[], 1]);
    server.turnTo(withKey([absent], [made]));
    server.say(groups, { type: 'ADDED', object: group('b') });
    await expect.poll(value).toMatch(/^[0-9A-F-]{36}$/);
    await expect.poll(unread).toBe(0);
  });

  test('is written as soon as the server has the right to', async () => {
    const { shown, unread } = await writing(withKey([absent], [forbidden, made]));
    await expect.poll(shown).toMatchObject({
      problems: [
        {
          message: expect.stringMatching(
            /`enrol`: the API server answered 403: secrets is forbidden; it is tried again/,
          ),
        },
      ],
      conditions: [{ reason: 'OutputNotWritten' }, { type: 'Reconciling', status: 'True' }, {}, {}, {}],
    });
    await expect.poll(shown, { timeout: 15_000 }).toMatchObject({ outputSecret: 'enrol' });
    expect(await unread()).toBe(0);
  });

  test('is recognised as written when the answer to the write was lost', async () => {
    const { shown, written, kept, server, unread, value } = await writing(
      withKey([absent], [{ afterwards: 'cut', body: '{' }]),
    );
    await expect.poll(shown).toMatchObject({ problems: [{ code: 'output_secret_unwritten' }] });
    expect([written().length, await unread()]).toEqual([1, 1]);
    const first = value();
    server.turnTo(withKey([kept()], [forbidden], { [status]: withKey([], [])[status] ?? {} }));
    await expect.poll(unread, { timeout: 15_000 }).toBe(0);
    expect(value()).toBe(first);
    await expect.poll(shown).toMatchObject({ outputSecret: 'enrol' });
  });

  test('cannot be written again after it was deleted, and the resource reports so', async () => {
    const { shown, server } = await writing(withKey([absent], [made]));
    await expect.poll(shown).toMatchObject({ outputSecret: 'enrol' });
    server.say(groups, { type: 'ADDED', object: group('b') });
    await expect.poll(shown).toMatchObject({
      problems: [
        { code: 'output_secret_gone', message: expect.stringContaining('delete the resource and create it again') },
      ],
    });
  });

  test('is written with a new value after it was deleted if the key is renewed', async () => {
    const renewing = { ...named, 'heddle.dev/renew-before': '2h' };
    const others = { [keys]: { lists: [listOf([resource('SetupKey', 'ci', spec, 'team-a', renewing)], '100')] } };
    const { shown, written, value, key, server } = await writing(withKey([absent], [made], others));
    await expect.poll(shown).toMatchObject({ outputSecret: 'enrol' });
    const [first, id] = [value(), (await key())?.id];
    // The scripted API server keeps answering that the Secret does not exist, as if it had been deleted.
    server.say(groups, { type: 'ADDED', object: group('b') });
    await expect.poll(written, { timeout: 15_000 }).toHaveLength(2);
    expect(value()).not.toBe(first);
    expect(await key()).toMatchObject({ id, derived: { former: [{ key_hash: sha256Base64(first) }] } });
    expect(written()[1]).toMatchObject({
      metadata: { annotations: { 'heddle.dev/expires': (await key())?.derived['expires'] } },
    });
  });

  test('is not written unless the settings of the cluster permit it', async () => {
    const { shown, written, office } = await writing(withKey([absent], [made]), { write: false });
    await expect.poll(shown).toMatchObject({
      problems: [{ code: 'annotation_invalid', message: expect.stringContaining('`secrets: { write: true }`') }],
    });
    expect([written(), await office.groups()]).toEqual([[], ['a']]);
  });
});

test('documents outside a cluster cannot name an output Secret', async () => {
  const office = await openSampleAccount();
  const documents = [
    { apiVersion: 'heddle.dev/v1', kind: 'SetupKey', metadata: { name: 'ci', annotations: named }, spec },
    {
      apiVersion: 'heddle.dev/v1',
      kind: 'SetupKey',
      metadata: { name: 'odd', annotations: { 'heddle.dev/output-secret': '../x' } },
      spec,
    },
  ];
  office.run([newMemoryOrigin('files', documents.map((one) => JSON.stringify(one)).join('\n---\n'))]);
  await expect
    .poll(async () => (await office.statusOf('files')).problems)
    .toMatchObject([
      {
        key: 'ci',
        message: expect.stringContaining(
          'only the values of a resource in a cluster can be written to a Secret; remove the annotation, and read the value with `heddle outputs`',
        ),
      },
      { key: 'odd', message: expect.stringContaining('is `../x`, which is not a valid name of a Secret') },
    ]);
});

test('each kind declares exactly the outputs that it generates', () => {
  const input = { now: '2026-01-01T00:00:00.000Z', random: (bytes: number) => new Uint8Array(bytes) };
  const made = documentKinds.flatMap((kind) => {
    const object = { id: 'o', kind: kind.name, name: 'o', spec: kind.example, derived: {} } as unknown as StoredObject;
    const outputs = Object.keys(kind.generate?.(object, input).outputs ?? {});
    return outputs.length === 0 ? [] : [[kind.name, outputs]];
  });
  expect(made.length).toBeGreaterThan(1);
  expect(made).toEqual(documentKinds.flatMap(({ name, outputs }) => (outputs === undefined ? [] : [[name, outputs]])));
});
