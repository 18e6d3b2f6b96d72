import { describe, expect, test } from 'vitest';
import { readKeys } from '../../src/db/sealing/keys.ts';
import { isWellFormedToken } from '../../src/lib/token.ts';
import { startCluster } from './cluster.ts';
import { at, type Manifest, only, type RenderOptions, refusal, render } from './render.ts';
import { podOf } from './shape.ts';

const installation: RenderOptions = { values: ['postgres'] };
const args = ['--is-upgrade', '--dry-run=server', '--disable-openapi-validation'];
const token = `nbp_${'a'.repeat(36)}`;
const key = Buffer.alloc(32, 7).toString('base64');

function textIn(manifests: readonly Manifest[], name: string): string {
  return Buffer.from(String(at(only(manifests, 'Secret'), `data.${name}`)), 'base64').toString();
}

function stored(data: Readonly<Record<string, string>>): Manifest {
  const entries = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  const metadata = { name: 'office-heddle', namespace: 'mesh' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(entries) };
}

describe('the generated Secret', () => {
  test('has a bootstrap token that a server accepts, a new one each time', async () => {
    const tokens = [];
    for (let time = 0; time < 5; time += 1) tokens.push(textIn(await render(installation), 'bootstrap-token'));
    expect(tokens.filter((text) => !isWellFormedToken('nbp_', text))).toEqual([]);
    expect(new Set(tokens).size).toBe(5);
  });

  test('has a secret key that a server accepts, a new one each time', async () => {
    const made = textIn(await render(installation), 'secret-key');
    expect(await readKeys({ secretKey: made, secretKeyFile: undefined, dataDir: undefined })).toHaveLength(1);
    expect(textIn(await render(installation), 'secret-key')).not.toBe(made);
  });

  test('is kept on uninstall, because no backup can be read without it', async () => {
    const { metadata } = only(await render(installation), 'Secret');
    expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
  });
});

describe('an upgrade', () => {
  test('keeps the generated token and key', async () => {
    await using cluster = await startCluster([stored({ 'bootstrap-token': token, 'secret-key': key })]);
    const manifests = await render({ ...installation, args, kubeconfig: cluster.kubeconfig });
    expect(textIn(manifests, 'bootstrap-token')).toBe(token);
    expect(textIn(manifests, 'secret-key')).toBe(key);
  });

  test('is refused when the key is missing, because a new key could not open what the old one sealed', async () => {
    await using cluster = await startCluster([]);
    expect(await refusal({ ...installation, args, kubeconfig: cluster.kubeconfig })).toMatch(
      /the Secret office-heddle does not exist or has no secret-key, and a new key could not decrypt the stored secrets/,
    );
  });

  test('uses the key of the values when given', async () => {
    await using cluster = await startCluster([stored({ 'bootstrap-token': token, 'secret-key': key })]);
    const rotated = `${Buffer.alloc(32, 8).toString('base64')}\n${key}`;
    const manifests = await render({
      ...installation,
      over: { secretKey: { value: rotated } },
      args,
      kubeconfig: cluster.kubeconfig,
    });
    expect(textIn(manifests, 'secret-key')).toBe(rotated);
    expect(textIn(manifests, 'bootstrap-token')).toBe(token);
  });
});

describe('existing Secrets', () => {
  test('are mounted as files under fixed names, and the chart creates none', async () => {
    const manifests = await render({ values: ['everything'] });
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(at(podOf(manifests), 'volumes')).toContainEqual({
      name: 'secrets',
      projected: {
        // 0440, because the files belong to the group of the process.
        defaultMode: 0o440,
        sources: [
          { secret: { name: 'heddle-owner', items: [{ key: 'token', path: 'bootstrap-token' }] } },
          { secret: { name: 'heddle-keys', items: [{ key: 'keys', path: 'secret-key' }] } },
        ],
      },
    });
  });
});
