/**
 * Parses a 32-byte public key in any base64 variant and returns it in base64url. Returns `undefined` when the text is
 * not a key.
 */
export function readPublicKey(text: string): string | undefined {
  if (!/^[\w+/-]{43}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === 32 ? bytes.toString('base64url') : undefined;
}

/** Converts a public key to standard base64, which WireGuard tunnels use and peers are stored with. */
export function toStandardBase64(key: string): string {
  return Buffer.from(key, 'base64url').toString('base64');
}
