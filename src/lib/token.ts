import { crc32 } from './node-pure.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 30;
const checksumLength = 6;

/** Number of random bytes for a token: 256 bits, of which 62^30 uses 178, so that all characters are equally likely. */
export const tokenRandomBytes = 32;

/** Builds a token such as `nbp_…`: the prefix, 30 base62 characters and their checksum. */
export function makeToken(prefix: string, random: Uint8Array): string {
  if (random.length < tokenRandomBytes) throw new RangeError(`A token takes ${tokenRandomBytes} random bytes.`);
  const number = random.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  const secret = base62(number % 62n ** BigInt(secretLength), secretLength);
  return `${prefix}${secret}${checksum(secret)}`;
}

/**
 * Checks whether the text has the form of a token with this prefix, including the checksum. Does not check whether the
 * token exists.
 */
export function isWellFormedToken(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const body = text.slice(prefix.length);
  const secret = body.slice(0, secretLength);
  return /^[\dA-Za-z]{36}$/.test(body) && checksum(secret) === body.slice(secretLength);
}

/** Calculated with numbers: with big integers it takes longer than the rest of the check of a token. */
function checksum(secret: string): string {
  let rest = crc32(secret);
  let text = '';
  while (rest > 0) {
    text = `${alphabet[rest % 62]}${text}`;
    rest = Math.floor(rest / 62);
  }
  return text.padStart(checksumLength, '0');
}

function base62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  while (rest > 0n) {
    text = `${alphabet[Number(rest % 62n)]}${text}`;
    rest /= 62n;
  }
  return text.padStart(length, '0');
}
