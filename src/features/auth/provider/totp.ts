import { createHmac, randomBytes } from 'node:crypto';

/**
 * Duration of a time step. All authenticator apps make codes in the same way (RFC 6238): SHA-1, six digits, steps of 30
 * seconds.
 */
const stepSeconds = 30;
const digits = 6;
const secretBytes = 20;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns a new secret, in base32 as apps accept it. */
export function newTotpSecret(): string {
  return base32(randomBytes(secretBytes));
}

/** Returns bytes in base32, without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join('');
}

/** Returns the address from which apps read a secret. */
export function totpUri(secret: string, person: string): string {
  const label = encodeURIComponent(`Heddle:${person}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=Heddle&algorithm=SHA1&digits=${digits}&period=${stepSeconds}`;
}

/** Returns the time step at a time, which is in milliseconds since 1970. */
export function stepAt(time: number): number {
  return Math.floor(time / 1000 / stepSeconds);
}

/** Returns the code of a time step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(at) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * Returns the time step of a code when it is the current step or a neighbour, because clocks differ; otherwise
 * `undefined`. Does not check whether the code was used.
 */
export function matchingStep(secret: string, code: string, time: number): number | undefined {
  const typed = code.replace(/\s/g, '');
  const now = stepAt(time);
  return [now, now - 1, now + 1].find((step) => totpCode(secret, step) === typed);
}

function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
}
