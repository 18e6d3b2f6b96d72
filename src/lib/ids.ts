/** What an id source takes from outside: the time in milliseconds and random bytes. */
export interface IdInputs {
  readonly now: () => number;
  readonly random: (length: number) => Uint8Array;
}

const alphabet = '0123456789abcdefghijklmnopqrstuv';
const lastCount = 0xffff;
const randomBytes = 6;

/**
 * Makes a source of 20-character ids (base32hex of 4 bytes seconds, 2 bytes counter, 6 random bytes each): whoever knows one
 * cannot tell the next. Each id sorts behind the one before it, also when the clock stands still or is set back.
 */
export function createIdSource(inputs: IdInputs): () => string {
  let seconds = 0;
  let count = 0;
  return () => {
    const now = Math.floor(inputs.now() / 1000);
    if (now > seconds) [seconds, count] = [now, 0];
    else if (count < lastCount) count += 1;
    else [seconds, count] = [seconds + 1, 0];
    return encode((BigInt(seconds) << 64n) | (BigInt(count) << 48n) | bytesToNumber(inputs.random(randomBytes)));
  };
}

/** 96 bits in 20 characters of 5 bits; the last four of the 100 bits are zero. */
function encode(value: bigint): string {
  let rest = value << 4n;
  let text = '';
  for (let index = 0; index < 20; index += 1) {
    text = `${alphabet[Number(rest & 31n)]}${text}`;
    rest >>= 5n;
  }
  return text;
}

function bytesToNumber(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
