import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isSealed } from '../../src/model/means.ts';
import { keyBytes } from '../../src/store/derive-key.ts';
import { newKeyText, readKeys } from '../../src/store/keys.ts';
import { createVault } from '../../src/store/vault.ts';

const [first, second] = [randomBytes(keyBytes), randomBytes(keyBytes)];

describe('a vault', () => {
  it('opens what it sealed, and shows nothing of it', () => {
    const vault = createVault([first]);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 4 }), (text) => {
        const sealed = vault.seal(text);
        expect(isSealed(sealed)).toBe(true);
        expect(vault.open(sealed)).toBe(text);
        expect(sealed.split(':')[2]).not.toContain(text);
      }),
    );
  });

  it('seals equal texts equally, and under another key differently', () => {
    const [one, other] = [createVault([first]), createVault([second])];
    expect(one.seal('hunter2')).toBe(one.seal('hunter2'));
    expect(one.seal('hunter2')).not.toBe(other.seal('hunter2'));
  });

  it('seals with its first key and opens with all', () => {
    const sealed = createVault([first]).seal('old');
    const both = createVault([second, first]);
    expect(both.open(sealed)).toBe('old');
    expect(both.seal('old')).toBe(createVault([second]).seal('old'));
  });

  it('names the key that is missing', () => {
    const sealed = createVault([first]).seal('x');
    expect(() => createVault([second]).open(sealed)).toThrow(
      /sealed with the key [0-9a-f]{12}, which this server does not have/,
    );
  });

  it('refuses a text that was changed', () => {
    const vault = createVault([first]);
    const bytes = Buffer.from(vault.seal('text').split(':')[2] ?? '', 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(() => vault.open(`sealed:${vault.keyId}:${bytes.toString('base64')}`)).toThrow();
  });
});

describe('the keys for secrets', () => {
  const none = { secretKey: undefined, secretKeyFile: undefined, dataDir: undefined };

  it('are read from a text or a file, as base64 or hex, the sealing one first', async () => {
    const directory = await temporary();
    const [base64, hex] = [newKeyText(), randomBytes(keyBytes).toString('hex')];
    await writeFile(join(directory, 'keys'), `${base64}\n${hex}\n`);
    const expected = [new Uint8Array(Buffer.from(base64, 'base64')), new Uint8Array(Buffer.from(hex, 'hex'))];
    expect(await readKeys({ ...none, secretKey: `${base64},${hex}` })).toEqual(expected);
    expect(await readKeys({ ...none, secretKeyFile: join(directory, 'keys') })).toEqual(expected);
  });

  it('are made once for the embedded database, readable by nobody else', async () => {
    const directory = await temporary();
    const keys = await readKeys({ ...none, dataDir: directory });
    expect(await readKeys({ ...none, dataDir: directory })).toEqual(keys);
    expect((await stat(join(directory, 'secret.key'))).mode & 0o777).toBe(0o600);
    expect((await readFile(join(directory, 'secret.key'), 'utf8')).trim()).toHaveLength(44);
  });

  it.each([
    ['nothing', none, /set HEDDLE_SECRET_KEY or HEDDLE_SECRET_KEY_FILE/],
    ['two places', { ...none, secretKey: 'a', secretKeyFile: 'b' }, /both set/],
    ['a short key', { ...none, secretKey: 'c2hvcnQ=' }, /key 1 of HEDDLE_SECRET_KEY is not 32 bytes/],
    ['an empty text', { ...none, secretKey: ' ' }, /holds no key/],
    ['a missing file', { ...none, secretKeyFile: 'nowhere/keys' }, /cannot be read/],
  ])('are refused when given as %s', async (_name, options, message) => {
    await expect(readKeys(options)).rejects.toThrow(message);
  });
});

async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'heddle-keys-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}
