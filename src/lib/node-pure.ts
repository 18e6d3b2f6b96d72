/**
 * The only file of the pure core that uses modules of Node. It uses only functions whose result depends on their
 * arguments alone.
 */
import type { Hash, X509Certificate } from 'node:crypto';
import { domainToASCII, domainToUnicode } from 'node:url';
import { once } from './once.ts';

// Loaded at their first use, because Node takes 6 ms for both, and a command that checks documents seldom needs them.
const crypto = once(() => process.getBuiltinModule('node:crypto'));
const zlib = once(() => process.getBuiltinModule('node:zlib'));

/** Returns the SHA-256 of the UTF-8 text, in lower-case hexadecimal. */
export function sha256(text: string): string {
  return crypto().hash('sha256', text, 'hex');
}

/** Number of characters to hash at once. A short text is hashed in one call, because a `Hash` object costs more. */
const hashChunkLength = 16 * 1024;

/** Returns the SHA-256 of the UTF-8 text that the parts form together, in hexadecimal. Yields after each part. */
export function* sha256InSteps(parts: Iterable<string>): Generator<undefined, string> {
  let sum: Hash | undefined;
  let text = '';
  for (const part of parts) {
    text += part;
    if (text.length >= hashChunkLength) {
      sum ??= crypto().createHash('sha256');
      sum.update(text);
      text = '';
    }
    yield undefined;
  }
  return sum === undefined ? sha256(text) : sum.update(text).digest('hex');
}

/** Returns the SHA-256 of the UTF-8 text, in standard base64 with padding. */
export function sha256Base64(text: string): string {
  return crypto().hash('sha256', text, 'base64');
}

/**
 * Returns the punycode of a domain name; empty when the name is not valid. It decodes `%41` and turns `1.2.3` into
 * `1.2.0.3`, so call `canonicalDomain` instead.
 */
export function domainToAscii(name: string): string {
  return domainToASCII(name);
}

/** Returns the name with its punycode labels in Unicode; empty when the name is not valid. */
export function domainToUnicodeText(name: string): string {
  return domainToUnicode(name);
}

/** Returns the CRC-32 (IEEE) of the UTF-8 text, as an unsigned number. */
export function crc32(text: string): number {
  return zlib().crc32(text);
}

/** A certificate in canonical PEM, or the reason why the text is not one. */
export type CertificateResult =
  | { readonly ok: true; readonly pem: string /** It may sign other certificates. */; readonly isCa: boolean }
  | { readonly ok: false; readonly fault: 'malformed' | 'several' | 'too_long' };

/** Maximum length of the text of a certificate, in characters. A large certificate has about 8,000. */
export const maxCertificateLength = 64 * 1024;

const [certificateBegin, certificateEnd] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

/**
 * Parses one X.509 certificate in PEM. Text around it is dropped. Does not check whether the certificate has expired.
 */
export function parseCertificate(text: string): CertificateResult {
  if (text.length > maxCertificateLength) return { ok: false, fault: 'too_long' };
  const begin = text.indexOf(certificateBegin);
  const mark = begin < 0 ? -1 : text.indexOf(certificateEnd, begin);
  const isWhole = mark >= 0;
  const end = mark + certificateEnd.length;
  const next = isWhole ? text.indexOf(certificateBegin, end) : -1;
  if (next >= 0 && text.indexOf(certificateEnd, next) >= 0) return { ok: false, fault: 'several' };
  try {
    const certificate = parsePem(isWhole ? text.slice(begin, end) : '');
    return { ok: true, pem: certificate.toString(), isCa: certificate.ca };
  } catch {
    // The constructor reports a malformed text only by throwing.
    return { ok: false, fault: 'malformed' };
  }
}

/**
 * Checks whether a certificate was issued by one of the authorities, directly or through the other certificates of the
 * chain. All are in PEM; the certificate itself is first in `chain`. Malformed certificates are ignored. Does not check
 * whether certificates have expired.
 */
export function isChainTrusted(chain: readonly string[], authorities: readonly string[]): boolean {
  const roots = readAuthorities(authorities);
  const [leaf, ...helpers] = chain.map(readCertificate);
  const between = helpers.flat();
  const seen = new Set<X509Certificate>();
  let reached = leaf ?? [];
  while (reached.length > 0) {
    if (reached.some((certificate) => roots.some((root) => hasIssued(root, certificate)))) return true;
    for (const certificate of reached) seen.add(certificate);
    const last = reached;
    reached = between.filter(
      (helper) => !seen.has(helper) && last.some((certificate) => hasIssued(helper, certificate)),
    );
  }
  return false;
}

/**
 * Checks whether a text contains one or more certificates in PEM, all of them well-formed. Text between them is
 * ignored.
 */
export function containsCertificates(text: string): boolean {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.length > 0 && blocks.every((block) => readCertificate(block).length === 1);
}

/** Parsed lists of authorities, so that a list is parsed once for all chains that are checked against it. */
const authoritiesCache = new WeakMap<readonly string[], readonly X509Certificate[]>();

function readAuthorities(authorities: readonly string[]): readonly X509Certificate[] {
  const present = authoritiesCache.get(authorities);
  if (present !== undefined) return present;
  const read = authorities.flatMap(readCertificate);
  authoritiesCache.set(authorities, read);
  return read;
}

function hasIssued(authority: X509Certificate, certificate: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** Returns the certificate as a list of one, or an empty list when the text is malformed. */
function readCertificate(text: string): readonly X509Certificate[] {
  try {
    return [parsePem(text)];
  } catch {
    // The constructor reports a malformed text only by throwing.
    return [];
  }
}

/** Throws when the text is malformed. */
function parsePem(text: string): X509Certificate {
  const { X509Certificate: Certificate } = crypto();
  return new Certificate(text);
}
