import { randomBytes } from 'node:crypto';

/** How many bytes are drawn at once: a draw of its own costs a busy server as much as a look-up. */
const poolBytes = 4096;

/** Creates a source of random bytes for what is no secret, such as ids. No byte is handed out twice. */
export function createRandomPool(): (length: number) => Uint8Array {
  let pool = randomBytes(0);
  return (length) => {
    if (pool.length < length) pool = randomBytes(Math.max(poolBytes, length));
    const bytes = pool.subarray(0, length);
    pool = pool.subarray(length);
    return bytes;
  };
}
