/** A raw public key as 32 bytes in base64url, whatever base64 it came in; `undefined` when it is none. */
export function readPublicKey(text: string): string | undefined {
  if (!/^[\w+/-]{43}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === 32 ? bytes.toString('base64url') : undefined;
}

/** A public key in base64, as tunnels write it and peers have it stored. */
export function tunnelSpelling(key: string): string {
  return Buffer.from(key, 'base64url').toString('base64');
}
