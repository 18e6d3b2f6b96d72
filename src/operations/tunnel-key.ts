import { readPublicKey, toStandardBase64 } from '../lib/public-key.ts';
import type { Format } from '../model/schema/format.ts';

/** Format of the public key of a tunnel. A key has only one spelling. */
export const tunnelKey: Format = {
  name: 'public_key',
  canonical(text) {
    const key = readPublicKey(text);
    return key === undefined
      ? { fault: 'this is not an X25519 key; write its 32 bytes in base64' }
      : { value: toStandardBase64(key) };
  },
};
