/** Inputs of an id source: the time in milliseconds, and random bytes. */
export interface IdInputs {
  readonly now: () => number;
  readonly random: (length: number) => Uint8Array;
}

const alphabet = '0123456789abcdefghijklmnopqrstuv';
const maxCount = 0xffff;
const randomByteCount = 6;

/**
 * Creates a source of 20-character ids (base32hex of 4 bytes seconds, 2 bytes counter and 6 random bytes). The next id
 * cannot be guessed from a known one. Each id sorts after the previous one, even when the clock stands still or is set
 * back.
 */
export function createIdSource(inputs: IdInputs): () => string {
  let seconds = 0;
  let count = 0;
  const bytes = new Uint8Array(4 + 2 + randomByteCount);
  const view = new DataView(bytes.buffer);
  return () => {
    const now = Math.floor(inputs.now() / 1000);
    if (now > seconds) [seconds, count] = [now, 0];
    else if (count < maxCount) count += 1;
    else [seconds, count] = [seconds + 1, 0];
    view.setUint32(0, seconds);
    view.setUint16(4, count);
    bytes.set(inputs.random(randomByteCount), 6);
    return encode(bytes);
  };
}

/** Encodes 96 bits as 20 characters of 5 bits each; the last four of the 100 bits are zero. */
function encode(bytes: Uint8Array): string {
  let text = '';
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    for (bits += 8; bits >= 5; ) {
      bits -= 5;
      text += alphabet[pending >>> bits];
      pending &= (1 << bits) - 1;
    }
  }
  return text + alphabet[pending << (5 - bits)];
}
