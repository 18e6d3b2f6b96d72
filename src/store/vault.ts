import { createCipheriv, createDecipheriv, createHmac, type KeyObject } from 'node:crypto';
import { Internal } from '../model/errors.ts';
import { sealedPrefix, type Vault } from '../model/means.ts';
import { deriveKey, keyBytes, keyIdOf } from './derive-key.ts';

interface Key {
  readonly id: string;
  readonly cipher: KeyObject;
  readonly nonce: KeyObject;
}

/**
 * Seals texts with AES-256-GCM under the first key and opens them under any. The nonce is a keyed hash of the text: equal
 * texts seal equally, which is all that a reader of the store can learn, and a nonce never serves two texts.
 */
export function createVault(keys: readonly Uint8Array[]): Vault {
  const known = new Map(keys.map(keyOf).map((key) => [key.id, key]));
  const [current] = known.values();
  if (current === undefined) throw new Internal('a vault needs a key');
  return {
    keyId: current.id,
    seal: (text) => seal(current, text),
    open(sealed) {
      const [id = '', body = ''] = sealed.slice(sealedPrefix.length).split(':');
      const key = known.get(id);
      if (key === undefined)
        throw new Internal(
          `a secret is sealed with the key ${id}, which this server does not have; give it that key too`,
        );
      return open(key, body);
    },
  };
}

function keyOf(key: Uint8Array): Key {
  if (key.length !== keyBytes) throw new Internal(`a secret key has ${keyBytes} bytes, not ${key.length}`);
  return { id: keyIdOf(key), cipher: deriveKey(key, 'cipher'), nonce: deriveKey(key, 'nonce') };
}

const nonceBytes = 12;
const tagBytes = 16;

function seal(key: Key, text: string): string {
  const nonce = createHmac('sha256', key.nonce).update(text).digest().subarray(0, nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key.cipher, nonce);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${sealedPrefix}${key.id}:${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')}`;
}

function open(key: Key, text: string): string {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key.cipher, bytes.subarray(0, nonceBytes));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
}
