import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { documentKinds } from '../model/product.ts';
import { newMemoryOrigin, openSampleAccount } from '../sources/office-source.ts';
import { listOf } from './conversation.ts';
import { absent, keys, made, named, spec, withKey, writing } from './output-keys.ts';
import { resource } from './scripted-cluster.ts';

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
