import { readPublicKey, tunnelSpelling } from '../lib/public-key.ts';
import type { Format } from '../model/schema/field.ts';

/** The public key of a tunnel, in the one spelling that it has. */
export const tunnelKey: Format = {
  name: 'public_key',
  canonical(text) {
    const key = readPublicKey(text);
    return key === undefined
      ? { fault: 'this is not an X25519 key; write its 32 bytes in base64' }
      : { value: tunnelSpelling(key) };
  },
};
