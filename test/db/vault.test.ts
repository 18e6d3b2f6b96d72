import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keyBytes } from '../../src/db/sealing/derive-key.ts';
import { newKeyText, readKeys } from '../../src/db/sealing/keys.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { sha256 } from '../../src/lib/node-pure.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import { Internal } from '../../src/model/errors.ts';
import { isSealed, type SealContext, type SealForm } from '../../src/model/schema/sealing.ts';

const [first, second] = [randomBytes(keyBytes), randomBytes(keyBytes)];

const context: SealContext = { purpose: 'object', path: ['account', 'object', 'secret'] };
const other: SealContext = { purpose: 'object', path: ['account', 'other', 'secret'] };

describe.each<SealForm>(['unbound', 'bound'])('a vault that seals texts in the form %s', (form) => {
  const create = (...keys: readonly Uint8Array[]) => createVault(keys, form);

  it('opens what it sealed, and the sealed text does not contain the secret', () => {
    const vault = create(first);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 4 }), (text) => {
        const sealed = vault.seal(text, context);
        expect(isSealed(sealed)).toBe(true);
        expect(vault.open(sealed, context)).toBe(text);
        expect(sealed.split(':').at(-1)).not.toContain(text);
      }),
    );
  });

  it('seals equal texts equally under one key, and differently under another', () => {
    const [one, two] = [create(first), create(second)];
    expect(one.seal('hunter2', context)).toBe(one.seal('hunter2', context));
    expect(one.seal('hunter2', context)).not.toBe(two.seal('hunter2', context));
  });

  it('seals a text in parts as it seals the whole text', () => {
    const vault = create(first);
    const part = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.constantFrom(1, 20_000), (few, times) => {
        const parts = few.map((text) => text.repeat(times));
        expect(runToEnd(vault.sealInSteps(parts, context))).toBe(vault.seal(parts.join(''), context));
      }),
      { numRuns: 30 },
    );
  });

  it('lets other work run between the parts of a text', () => {
    const parts = Array.from({ length: 10 }, () => 'x'.repeat(100_000));
    // Each part is hashed and encrypted.
    expect([...create(first).sealInSteps(parts, context)].length).toBeGreaterThanOrEqual(20);
  });

  it('seals with its first key and opens with any of its keys', () => {
    const sealed = create(first).seal('old', context);
    const both = create(second, first);
    expect(both.open(sealed, context)).toBe('old');
    expect(both.seal('old', context)).toBe(create(second).seal('old', context));
    expect([both.isCurrent(sealed, form), both.isCurrent(both.seal('old', context), form)]).toEqual([false, true]);
  });

  it('reports the id of a missing key', () => {
    const sealed = create(first).seal('x', context);
    expect(() => create(second).open(sealed, context)).toThrow(
      /sealed with the key [0-9a-f]{12}, which this server does not have/,
    );
  });

  it('refuses a sealed text that was changed or truncated', () => {
    const vault = create(first);
    const sealed = vault.seal('text', context);
    const [prefix, body] = [sealed.slice(0, sealed.lastIndexOf(':') + 1), sealed.split(':').at(-1) ?? ''];
    const bytes = Buffer.from(body, 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    for (const spoiled of [bytes, bytes.subarray(0, 16), Buffer.alloc(0)])
      expect(() => vault.open(prefix + spoiled.toString('base64'), context)).toThrow(Internal);
  });

  it('computes equal fingerprints for equal secrets, in any context and under any of its keys', () => {
    const vault = create(second, first);
    const [here, there] = [vault.seal('hunter2', context), create(first).seal('hunter2', other)];
    expect(vault.fingerprint(here, context)).toBe(vault.fingerprint(there, other));
    expect(vault.fingerprint(vault.seal('hunter3', context), context)).not.toBe(vault.fingerprint(here, context));
    expect(vault.fingerprint(here, context)).not.toBe(create(first).fingerprint(there, other));
  });
});

describe('the stored form of a sealed text', () => {
  const vault = createVault([new Uint8Array(keyBytes).fill(7)]);
  const plan: SealContext = { purpose: 'plan', path: ['account', 'plan'] };

  // Texts that earlier versions sealed: databases contain them, and equal texts must stay equal.
  it.each<[SealForm, string, string]>([
    ['bound', 'grüße 😀\n', 'sealed:2:62917dffff63:2puQ9j5rbLLVoDInqfUL7Se3GdD3t40jA3w/28wgs2iJGHBX7iNnDJs='],
    ['unbound', 'grüße 😀\n', 'sealed:62917dffff63:cdSF8VfBFeLS78ToXQFvv6lq0QiUFfOn3/GVZaFdaWskK5FoNGtQ6t8='],
    ['bound', '', 'sealed:2:62917dffff63:++sdiU7o2Kv8JDHaWDK3CZSPO02Gn0hYCE+8QA=='],
  ])('does not change (%s, %j)', (form, text, sealed) => {
    expect(vault.seal(text, plan, form)).toBe(sealed);
  });

  it('does not change for a text that is sealed in several parts', () => {
    const parts = ['ü€😀x'.repeat(60_000), 'ü€😀x'.repeat(40_000)];
    const sealed = runToEnd(vault.sealInSteps(parts, plan));
    expect(sha256(sealed)).toBe('0cac4b17285d7e8c134c6e59ce96d82e4dfd03a2b2f08b983b3b3d4518932e77');
  });
});

describe('a sealed text bound to its context', () => {
  const vault = createVault([first]);
  const sealed = vault.seal('hunter2', context);

  it.each<[string, SealContext]>([
    ['another account', { purpose: 'object', path: ['elsewhere', 'object', 'secret'] }],
    ['another object', other],
    ['another field', { purpose: 'object', path: ['account', 'object', 'public'] }],
    ['a path that only reads alike', { purpose: 'object', path: ['account', 'object,secret'] }],
    ['another purpose', { purpose: 'plan', path: ['account', 'object', 'secret'] }],
  ])('is refused in any other context: %s', (_name, elsewhere) => {
    expect(() => vault.open(sealed, elsewhere)).toThrow(/sealed for a different place than the one where it is stored/);
  });

  it('differs between contexts, which hides equal secrets', () => {
    expect(vault.seal('hunter2', other).split(':').at(-1)).not.toBe(sealed.split(':').at(-1));
  });
});

describe('a vault in transition from the unbound to the bound form', () => {
  it('reads both forms, then only the bound one, and cannot go back', () => {
    const vault = createVault([first], 'unbound');
    const old = vault.seal('hunter2', context);
    expect(old).toMatch(/^sealed:[0-9a-f]{12}:/);
    expect(createVault([first], 'unbound').open(createVault([first]).seal('hunter2', context), context)).toBe(
      'hunter2',
    );
    vault.advance('binding');
    expect(vault.seal('hunter2', context)).toMatch(/^sealed:2:[0-9a-f]{12}:/);
    expect(vault.open(old, context)).toBe('hunter2');
    vault.advance('bound');
    expect(() => vault.open(old, context)).toThrow(/in the form of an earlier release, which is rejected/);
    vault.advance('unbound');
    expect([vault.form, vault.openUnbound(old)]).toEqual(['bound', 'hunter2']);
  });

  it('fingerprints requests like servers of the previous release', () => {
    expect(createVault([first]).requestFingerprint('a')).toBe(createVault([first], 'unbound').seal('a', context));
  });
});

describe('the keys that seal secrets', () => {
  const none = { secretKey: undefined, secretKeyFile: undefined, dataDir: undefined };

  it('are read from a text or a file, as base64 or hex, with the sealing key first', async () => {
    const directory = await temporary();
    const [base64, hex] = [newKeyText(), randomBytes(keyBytes).toString('hex')];
    await writeFile(join(directory, 'keys'), `${base64}\n${hex}\n`);
    const expected = [new Uint8Array(Buffer.from(base64, 'base64')), new Uint8Array(Buffer.from(hex, 'hex'))];
    expect(await readKeys({ ...none, secretKey: `${base64},${hex}` })).toEqual(expected);
    expect(await readKeys({ ...none, secretKeyFile: join(directory, 'keys') })).toEqual(expected);
  });

  it('are created once for the embedded database, readable by the owner only', async () => {
    const directory = await temporary();
    const keys = await readKeys({ ...none, dataDir: directory });
    expect(await readKeys({ ...none, dataDir: directory })).toEqual(keys);
    expect((await stat(join(directory, 'secret.key'))).mode & 0o777).toBe(0o600);
    expect((await readFile(join(directory, 'secret.key'), 'utf8')).trim()).toHaveLength(44);
  });

  it.each([
    ['nothing', none, /set HEDDLE_SECRET_KEY or HEDDLE_SECRET_KEY_FILE/],
    ['a key and a file', { ...none, secretKey: 'a', secretKeyFile: 'b' }, /both set/],
    ['a short key', { ...none, secretKey: 'c2hvcnQ=' }, /key 1 of HEDDLE_SECRET_KEY is not 32 bytes/],
    ['an empty text', { ...none, secretKey: ' ' }, /contains no key/],
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
