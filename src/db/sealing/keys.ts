import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidInput } from '../../model/errors.ts';
import { exists, holdsDatabase } from '../embedded/data-directory.ts';
import { createDataDirectory, createFile, inDataDirectory } from '../embedded/disk.ts';
import { keyBytes } from './derive-key.ts';

/** Sources of the keys for secrets. */
export interface KeyOptions {
  /** The keys themselves, separated by commas or white space. */
  readonly secretKey: string | undefined;
  readonly secretKeyFile: string | undefined;
  /** Data directory in which the embedded database keeps its own key; `undefined` with an external database. */
  readonly dataDir: string | undefined;
}

/**
 * Reads the keys for secrets. The first key seals, and all keys open. Throws `InvalidInput` when there is no key, or
 * one is malformed.
 */
export async function readKeys({ secretKey, secretKeyFile, dataDir }: KeyOptions): Promise<readonly Uint8Array[]> {
  if (secretKey !== undefined && secretKeyFile !== undefined) {
    throw new InvalidInput('HEDDLE_SECRET_KEY and HEDDLE_SECRET_KEY_FILE are both set; keep one of them.');
  }
  if (secretKey !== undefined) return parseKeys(secretKey, 'HEDDLE_SECRET_KEY');
  if (secretKeyFile !== undefined) return parseKeys(await readText(secretKeyFile), `the file ${secretKeyFile}`);
  if (dataDir !== undefined)
    return parseKeys(await readOrCreateKey(dataDir), `the file ${join(dataDir, 'secret.key')}`);
  throw new InvalidInput(
    'secrets are sealed with a key that must be kept outside the database: set HEDDLE_SECRET_KEY or HEDDLE_SECRET_KEY_FILE; make a key with `heddle secrets key`.',
  );
}

/**
 * Throws `InvalidInput` when a data directory contains a database but not its key: a newly created key could not open
 * its secrets.
 */
export async function requireOwnKey({ secretKey, secretKeyFile, dataDir }: KeyOptions): Promise<void> {
  if (dataDir === undefined || secretKey !== undefined || secretKeyFile !== undefined) return;
  if (!(await holdsDatabase(dataDir)) || (await exists(join(dataDir, 'secret.key')))) return;
  throw new InvalidInput(
    `the data directory ${dataDir} contains a database, but not its key: put the file secret.key back, or give the key in HEDDLE_SECRET_KEY or HEDDLE_SECRET_KEY_FILE. Nothing was written.`,
  );
}

/** Returns a new key, in base64. */
export function newKeyText(): string {
  return randomBytes(keyBytes).toString('base64');
}

function parseKeys(text: string, keySource: string): readonly Uint8Array[] {
  const parts = text.split(/[,\s]+/).filter((part) => part !== '');
  if (parts.length === 0) throw new InvalidInput(`${keySource} contains no key; make one with \`heddle secrets key\`.`);
  return parts.map((part, at) => {
    const bytes = Buffer.from(part, /^[0-9a-fA-F]{64}$/.test(part) ? 'hex' : 'base64');
    // The message does not repeat the text, because it is a secret.
    if (bytes.length !== keyBytes)
      throw new InvalidInput(
        `key ${at + 1} of ${keySource} is not ${keyBytes} bytes as base64 or hex; make one with \`heddle secrets key\`.`,
      );
    return new Uint8Array(bytes);
  });
}

async function readOrCreateKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secret.key');
  const key = `${newKeyText()}\n`;
  const isNew = await inDataDirectory(dataDir, async () => {
    await createDataDirectory(dataDir);
    return createFile(path, key);
  });
  return isNew ? key : readText(path);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInput(`the file of the secret key cannot be read (${reason}); correct the path.`, { cause });
  }
}
