/** The only file of the pure core that imports `node:`, and only functions whose answer depends on their arguments alone. */
import { createHash, type Hash, hash, X509Certificate } from 'node:crypto';
import { domainToASCII, domainToUnicode } from 'node:url';
import { crc32 as crc32OfBytes } from 'node:zlib';

/** SHA-256 of the UTF-8 text, in lower-case hexadecimal. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** So many characters are hashed at once: an object that hashes part by part costs more than a short text. */
const hashedAtOnce = 16 * 1024;

/** SHA-256 of the UTF-8 text that parts make together, in hex. Yields after each. */
export function* sha256InSteps(parts: Iterable<string>): Generator<undefined, string> {
  let sum: Hash | undefined;
  let text = '';
  for (const part of parts) {
    text += part;
    if (text.length >= hashedAtOnce) {
      sum ??= createHash('sha256');
      sum.update(text);
      text = '';
    }
    yield undefined;
  }
  return sum === undefined ? sha256(text) : sum.update(text).digest('hex');
}

/** SHA-256 of the UTF-8 text, in standard base64 with padding. */
export function sha256Base64(text: string): string {
  return hash('sha256', text, 'base64');
}

/** Punycode of a domain name; empty when it is not valid. It decodes `%41` and turns `1.2.3` into `1.2.0.3`: use `canonicalDomain`. */
export function domainToAscii(name: string): string {
  return domainToASCII(name);
}

/** The name with its punycode labels in Unicode; empty when it is not valid. */
export function domainToUnicodeText(name: string): string {
  return domainToUnicode(name);
}

/** CRC-32 (IEEE) of the UTF-8 text, unsigned. */
export function crc32(text: string): number {
  return crc32OfBytes(text);
}

/** A certificate in its one spelling, or why the text is none. */
export type CertificateResult =
  | { readonly ok: true; readonly pem: string /** It may sign other certificates. */; readonly isCa: boolean }
  | { readonly ok: false; readonly fault: 'malformed' | 'several' | 'too_long' };

/** How many characters the text of a certificate may have; a large one has about 8,000. */
export const longestCertificate = 64 * 1024;

const [certificateBegin, certificateEnd] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

/** Reads one X.509 certificate in PEM; text around it is dropped. Whether it is still valid is not looked at. */
export function parseCertificate(text: string): CertificateResult {
  if (text.length > longestCertificate) return { ok: false, fault: 'too_long' };
  const begin = text.indexOf(certificateBegin);
  const mark = begin < 0 ? -1 : text.indexOf(certificateEnd, begin);
  const isWhole = mark >= 0;
  const end = mark + certificateEnd.length;
  const next = isWhole ? text.indexOf(certificateBegin, end) : -1;
  if (next >= 0 && text.indexOf(certificateEnd, next) >= 0) return { ok: false, fault: 'several' };
  try {
    const certificate = new X509Certificate(isWhole ? text.slice(begin, end) : '');
    return { ok: true, pem: certificate.toString(), isCa: certificate.ca };
  } catch {
    // The constructor has no other way to say that the text is no certificate.
    return { ok: false, fault: 'malformed' };
  }
}

/**
 * Whether a certificate was issued by one of the authorities, directly or by way of the certificates behind it in the
 * list; all in PEM, the certificate itself first. What is malformed proves nothing. Whether they are still valid is not
 * looked at.
 */
export function chainsTo(chain: readonly string[], authorities: readonly string[]): boolean {
  const roots = readOnce(authorities);
  const [leaf, ...helpers] = chain.map(readCertificate);
  const between = helpers.flat();
  const seen = new Set<X509Certificate>();
  let reached = leaf ?? [];
  while (reached.length > 0) {
    if (reached.some((certificate) => roots.some((root) => issued(root, certificate)))) return true;
    for (const certificate of reached) seen.add(certificate);
    const last = reached;
    reached = between.filter((helper) => !seen.has(helper) && last.some((certificate) => issued(helper, certificate)));
  }
  return false;
}

/** Whether a text is one certificate in PEM, or several of them; what stands between them is not looked at. */
export function holdsCertificates(text: string): boolean {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.length > 0 && blocks.every((block) => readCertificate(block).length === 1);
}

/** A list of authorities is read once, however many chains are held against it. */
const readLists = new WeakMap<readonly string[], readonly X509Certificate[]>();

function readOnce(authorities: readonly string[]): readonly X509Certificate[] {
  const present = readLists.get(authorities);
  if (present !== undefined) return present;
  const read = authorities.flatMap(readCertificate);
  readLists.set(authorities, read);
  return read;
}

function issued(authority: X509Certificate, certificate: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** The certificate in a list, none when the text is none. */
function readCertificate(text: string): readonly X509Certificate[] {
  try {
    return [new X509Certificate(text)];
  } catch {
    // The constructor has no other way to say that the text is no certificate.
    return [];
  }
}
