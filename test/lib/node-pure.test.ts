import { describe, expect, test } from 'vitest';
import {
  crc32,
  domainToAscii,
  domainToUnicodeText,
  isChainTrusted,
  maxCertificateLength,
  parseCertificate,
  sha256,
  sha256Base64,
} from '../../src/lib/node-pure.ts';
import { authority, chain, leaf } from '../setup/certificates.ts';
import { growthOf, linear } from '../setup/growth.ts';

describe('pure functions of node', () => {
  test('hash the UTF-8 bytes of a text', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256('ü')).toBe('607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f');
    expect(sha256Base64('')).toBe('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=');
  });

  test('compute the unsigned CRC-32 of IEEE', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
  });

  test('find a certificate in linear time, and refuse a text that is too long', () => {
    const begin = '-----BEGIN CERTIFICATE-----';
    const growth = growthOf((size) => parseCertificate(begin.repeat(size / begin.length)), maxCertificateLength / 30);
    expect(growth).toBeLessThan(linear);
    expect(parseCertificate(`${authority}${' '.repeat(maxCertificateLength)}`)).toEqual({
      ok: false,
      fault: 'too_long',
    });
    expect(parseCertificate(`-----END CERTIFICATE-----\n${authority}${begin}`).ok).toBe(true);
    expect(parseCertificate(`${begin}x`)).toEqual({ ok: false, fault: 'malformed' });
  });

  test('convert domain names to punycode and back', () => {
    expect(domainToAscii('münchen.de')).toBe('xn--mnchen-3ya.de');
    expect(domainToUnicodeText('xn--mnchen-3ya.de')).toBe('münchen.de');
    expect(domainToAscii('a b')).toBe('');
  });

  test.each([
    ['an authority', authority, { ok: true, pem: authority, isCa: true }],
    ['text around it', `before\n${authority.trim()}after`, { ok: true, pem: authority, isCa: true }],
    ['other line ends', authority.replaceAll('\n', '\r\n'), { ok: true, pem: authority, isCa: true }],
    ['no authority', leaf, { ok: true, pem: leaf, isCa: false }],
    ['two', authority + leaf, { ok: false, fault: 'several' }],
    ['half of one', authority.slice(0, 200), { ok: false, fault: 'malformed' }],
    ['nothing', '', { ok: false, fault: 'malformed' }],
  ])('parse certificates: %s', (_, text, result) => {
    expect(parseCertificate(text)).toEqual(result);
  });

  test.each([
    ['its own authority', [chain.server], [chain.root], true],
    ['one of several authorities', [chain.server], [authority, chain.root], true],
    ['an authority by way of another', [chain.laptop, chain.issuing], [chain.root], true],
    ['an authority with helpers in any order', [chain.laptop, chain.server, leaf, chain.issuing], [chain.root], true],
    ['the authority between', [chain.laptop], [chain.issuing], true],
    ['an authority whose helper is missing', [chain.laptop], [chain.root], false],
    ['another authority of the same name', [chain.server], [chain.namesake], false],
    ['an authority by way of what is none', [chain.forged, chain.pretender], [chain.root], false],
    ['what is no authority', [chain.forged], [chain.pretender], false],
    ['nobody', [leaf], [chain.root], false],
    ['no authority', [chain.server], [], false],
    ['something without a certificate', [], [chain.root], false],
    ['something malformed', ['-----BEGIN CERTIFICATE-----'], [chain.root, 'x'], false],
    ['an authority that is its own', [chain.root], [chain.root], true],
  ])('decide whether a certificate chains to %s', (_, certificates, authorities, leads) => {
    expect(isChainTrusted(certificates, authorities)).toBe(leads);
  });
});
