import { createCipheriv, createDecipheriv, createHmac, type KeyObject } from 'node:crypto';
import { runToEnd } from '../../lib/steps.ts';
import { Internal } from '../../model/errors.ts';
import {
  boundPrefix,
  type SealContext,
  type SealForm,
  type SealPurpose,
  sealedPrefix,
  type Vault,
} from '../../model/schema/sealing.ts';
import { deriveKey, keyIdOf } from './derive-key.ts';

/** The keys of one purpose. */
interface PurposeKeys {
  readonly cipher: KeyObject;
  readonly nonce: KeyObject;
}

interface Key {
  readonly id: string;
  /** The keys of the unbound form, the same for all purposes. */
  readonly unbound: PurposeKeys;
  bound(purpose: SealPurpose): PurposeKeys;
  readonly fingerprint: KeyObject;
}

const forms: readonly SealForm[] = ['unbound', 'binding', 'bound'];

/**
 * Creates a vault that seals texts with AES-256-GCM under the first key and opens them under any key. The nonce is a
 * keyed hash of the text and its context: equal texts in one context seal equally, which is all that a reader of the
 * store can learn, and no nonce is used for two different texts. The context is authenticated as additional data, so
 * that a sealed text does not open in another context.
 */
export function createVault(keys: readonly Uint8Array[], first: SealForm = 'bound'): Vault {
  const known = new Map(keys.map(keyOf).map((key) => [key.id, key]));
  const [current] = known.values();
  if (current === undefined) throw new Internal('a vault needs a key');
  let form = first;
  const find = (id: string): Key => {
    const key = known.get(id);
    if (key !== undefined) return key;
    // The id may be part of any stored text, so the message does not repeat it.
    if (!/^[0-9a-f]{12}$/.test(id)) throw new Internal('a secret does not have the form of a sealed secret');
    throw new Internal(`a secret is sealed with the key ${id}, which this server does not have; give it that key too`);
  };
  const openUnbound = (sealed: string): string => {
    const [id = '', body = ''] = sealed.slice(sealedPrefix.length).split(':');
    return open(find(id).unbound, body);
  };
  const openIn = (sealed: string, context: SealContext): string => {
    if (sealed.startsWith(boundPrefix)) {
      const [id = '', body = ''] = sealed.slice(boundPrefix.length).split(':');
      return open(find(id).bound(context.purpose), body, contextBytesOf(context));
    }
    if (form === 'bound') throw new Internal(unboundRefusal);
    return openUnbound(sealed);
  };
  const sealInSteps: Vault['sealInSteps'] = function* (parts, context, as = form) {
    if (as === 'unbound') return `${sealedPrefix}${current.id}:${yield* seal(current.unbound, parts)}`;
    const body = yield* seal(current.bound(context.purpose), parts, contextBytesOf(context));
    return `${boundPrefix}${current.id}:${body}`;
  };
  return {
    keyId: current.id,
    get form() {
      return form;
    },
    advance(next) {
      if (forms.indexOf(next) > forms.indexOf(form)) form = next;
    },
    seal: (text, context, as) => runToEnd(sealInSteps([text], context, as)),
    sealInSteps,
    open: openIn,
    openUnbound,
    isCurrent: (sealed, as) => sealed.startsWith(`${as === 'unbound' ? sealedPrefix : boundPrefix}${current.id}:`),
    fingerprint(sealed, context) {
      const hash = createHmac('sha256', current.fingerprint);
      try {
        return hash.update(openIn(sealed, context)).digest('hex');
      } catch (error) {
        // A secret that does not open equals only itself, so that it can be replaced.
        if (error instanceof Internal) return hash.update(sealed).digest('hex');
        throw error;
      }
    },
    requestFingerprint: (text) => `${sealedPrefix}${current.id}:${runToEnd(seal(current.unbound, [text]))}`,
  };
}

const unboundRefusal =
  'a secret is sealed in the form of an earlier release, which is rejected since `heddle secrets rotate`: a server of that release wrote it afterwards, or it was inserted into the database. Write the secret again, or see `heddle secrets rotate --accept-unbound`';

function keyOf(key: Uint8Array): Key {
  const pairs = new Map<SealPurpose, PurposeKeys>();
  return {
    id: keyIdOf(key),
    unbound: { cipher: deriveKey(key, 'cipher'), nonce: deriveKey(key, 'nonce') },
    bound(purpose) {
      const present = pairs.get(purpose);
      if (present !== undefined) return present;
      const made = { cipher: deriveKey(key, `cipher ${purpose}`), nonce: deriveKey(key, `nonce ${purpose}`) };
      pairs.set(purpose, made);
      return made;
    },
    fingerprint: deriveKey(key, 'fingerprint'),
  };
}

/** Returns a context as bytes, which are unique to the context. */
function contextBytesOf({ purpose, path }: SealContext): Buffer {
  return Buffer.from(JSON.stringify([purpose, ...path]));
}

const nonceBytes = 12;
const tagBytes = 16;

/** Number of bytes that are written as base64 at once. A multiple of three, so that only the last part is padded. */
const bytesPerPart = 3 * 64 * 1024;

function* seal(pair: PurposeKeys, parts: readonly string[], contextBytes?: Buffer): Generator<undefined, string> {
  const hash = createHmac('sha256', pair.nonce);
  // A JSON text has a definite end, so that no two pairs of context and text have the same hash input.
  if (contextBytes !== undefined) hash.update(contextBytes);
  let length = nonceBytes + tagBytes;
  for (const [at, part] of parts.entries()) {
    if (at > 0) yield undefined;
    hash.update(part);
    length += Buffer.byteLength(part);
  }
  const nonce = hash.digest().subarray(0, nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', pair.cipher, nonce);
  if (contextBytes !== undefined) cipher.setAAD(contextBytes);
  const bytes = Buffer.alloc(length);
  bytes.set(nonce);
  let end = nonceBytes + tagBytes;
  for (const [at, part] of parts.entries()) {
    if (at > 0) yield undefined;
    const encrypted = cipher.update(part, 'utf8');
    bytes.set(encrypted, end);
    end += encrypted.length;
  }
  cipher.final();
  bytes.set(cipher.getAuthTag(), nonceBytes);
  let text = '';
  for (let at = 0; at < length; at += bytesPerPart) {
    if (at > 0) yield undefined;
    text += bytes.toString('base64', at, at + bytesPerPart);
  }
  return text;
}

function open(pair: PurposeKeys, text: string, contextBytes?: Buffer): string {
  const bytes = Buffer.from(text, 'base64');
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes);
  // A shorter tag would be easier to guess, and Node would accept it.
  if (tag.length !== tagBytes) throw new Internal('a sealed secret is cut short');
  const decipher = createDecipheriv('aes-256-gcm', pair.cipher, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  if (contextBytes !== undefined) decipher.setAAD(contextBytes);
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new Internal(
      'a sealed secret was changed, or was sealed for a different place than the one where it is stored',
      {
        cause,
      },
    );
  }
}
