import { longestCertificate, parseCertificate } from '../../lib/node-pure.ts';
import type { Format } from '../../model/schema/field.ts';

/** Numbers between dots, with the additions that systems and clients put behind them. */
export const version: Format = {
  name: 'version',
  pattern: 'v?[0-9]+([.][0-9]+)*([-+~][0-9A-Za-z.+~_-]*)?',
  canonical(text) {
    if (/^v?\d+(\.\d+)*([-+~][\dA-Za-z.+~_-]*)?$/.test(text)) return { value: text };
    return { fault: `\`${text}\` is not a version; write one such as 1.4.2` };
  },
};

/** The certificate of an authority, in the one spelling that PEM has. */
export const certificate: Format = {
  name: 'certificate',
  canonical(text) {
    const result = parseCertificate(text);
    if (result.ok && result.isCa) return { value: result.pem };
    return { fault: result.ok ? notOfAnAuthority : certificateFaults[result.fault] };
  },
};

const notOfAnAuthority =
  'this certificate may not sign others (CA:FALSE); give the certificate of the authority that signs those of the peers';

const certificateFaults = {
  malformed:
    'this is not an X.509 certificate in PEM; write the text from `-----BEGIN CERTIFICATE-----` to `-----END CERTIFICATE-----`',
  too_long: `this text is longer than any certificate; write one of at most ${longestCertificate} characters`,
  several: 'this text holds several certificates; write each of them as an entry of its own',
} as const;
