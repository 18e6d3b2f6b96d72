import { sha256 } from '../lib/node-pure.ts';

const byteOrderMark = '\ufeff';

/** The text without a leading byte order mark and with LF line ends: what is read and what is hashed. */
export function normalizeText(text: string): string {
  const start = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  return start.includes('\r\n') ? start.replaceAll('\r\n', '\n') : start;
}

/** SHA-256 of a file's normalised text: the same file saved with CRLF or a byte order mark has the same digest. */
export function digestOf(text: string): string {
  return sha256(normalizeText(text));
}
