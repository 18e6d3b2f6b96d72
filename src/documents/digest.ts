import { sha256 } from '../lib/node-pure.ts';
import type { SourceFile } from '../model/document.ts';

const byteOrderMark = '\ufeff';

/** Returns the text without a leading byte order mark and with LF line ends. This form is parsed and hashed. */
export function normalizeText(text: string): string {
  const start = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  return start.includes('\r\n') ? start.replaceAll('\r\n', '\n') : start;
}

/**
 * Returns the SHA-256 of a file's normalised text. The same file saved with CRLF or a byte order mark has the same
 * digest.
 */
export function digestOf(text: string): string {
  return sha256(normalizeText(text));
}

const digests = new WeakMap<SourceFile, string>();

/** Returns the digest of a file's text. Computed once per `SourceFile` object. */
export function digestOfFile(file: SourceFile): string {
  const known = digests.get(file);
  if (known !== undefined) return known;
  const digest = digestOf(file.text);
  digests.set(file, digest);
  return digest;
}
