import { maxCertificateLength, parseCertificate } from '../../lib/node-pure.ts';
import { list, maxEntries, object, oneOf, setOf, string } from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';
import { countryCode } from '../shared/country.ts';
import { cidr } from '../shared/formats.ts';

/** Numbers separated by dots, with a suffix that systems and clients append. */
const version: Format = {
  name: 'version',
  pattern: 'v?[0-9]+([.][0-9]+)*([-+~][0-9A-Za-z.+~_-]*)?',
  canonical(text) {
    if (/^v?\d+(\.\d+)*([-+~][\dA-Za-z.+~_-]*)?$/.test(text)) return { value: text };
    return { fault: `\`${text}\` is not a version; write one such as 1.4.2` };
  },
};

/** Certificate of an authority, in canonical PEM. */
const certificate: Format = {
  name: 'certificate',
  canonical(text) {
    const result = parseCertificate(text);
    if (result.ok && result.isCa) return { value: result.pem };
    return { fault: result.ok ? notAnAuthorityMessage : certificateFaults[result.fault] };
  },
};

const notAnAuthorityMessage =
  'this certificate may not sign others (CA:FALSE); give the certificate of the authority that signs the certificates of the peers';

const certificateFaults = {
  malformed:
    'this is not an X.509 certificate in PEM; write the text from `-----BEGIN CERTIFICATE-----` to `-----END CERTIFICATE-----`',
  too_long: `this text is longer than any certificate; write one of at most ${maxCertificateLength} characters`,
  several: 'this text contains several certificates; write each of them as a separate entry',
} as const;

const minVersion = {
  min_version: string({ doc: 'The lowest version that passes.', required: true, minLength: 1, format: version }),
};
const minKernel = {
  min_kernel_version: string({
    doc: 'The lowest kernel version that passes.',
    required: true,
    minLength: 1,
    format: version,
  }),
};

const systems = {
  android: object(minVersion, { doc: 'Requirements for Android.' }),
  ios: object(minVersion, { doc: 'Requirements for iOS.' }),
  darwin: object(minVersion, { doc: 'Requirements for macOS.' }),
  linux: object(minKernel, { doc: 'Requirements for Linux.' }),
  windows: object(minKernel, { doc: 'Requirements for Windows.' }),
};

const location = {
  country_code: string({
    doc: 'The country, as its two-letter ISO 3166-1 code.',
    required: true,
    minLength: 1,
    format: countryCode,
  }),
  city_name: string({
    doc: 'English name of a city in that country; empty for the whole country.',
    default: '',
    omitUnlessGiven: true,
  }),
};

const action = (what: string) =>
  oneOf(['allow', 'deny'], { doc: `Who passes: only ${what} (\`allow\`), or all others (\`deny\`).`, required: true });

const process = {
  linux_path: string({ doc: 'The executable on Linux.', default: '', omitUnlessGiven: true }),
  mac_path: string({ doc: 'The executable on macOS.', default: '', omitUnlessGiven: true }),
  windows_path: string({ doc: 'The executable on Windows.', default: '', omitUnlessGiven: true }),
};

/** Every program needs a path on at least one system. */
const atLeastOnePath = {
  rule: 'atLeastOne',
  members: ['linux_path', 'mac_path', 'windows_path'],
  code: 'process_without_path',
  at: '',
} as const;

/** Maximum number of authorities per check. The certificate chains of each peer are compared with all of them. */
const maxAuthorities = 100;

/**
 * The six checks. The object that contains them is closed, because a typo must not let peers pass. Each check is one
 * unit, because half a check would let other peers pass than intended.
 */
export const checks = {
  client_version_check: object(minVersion, {
    doc: 'The client must be new enough.',
    atomic: true,
    foreignNames: ['nb_version_check'],
  }),
  os_version_check: object(systems, {
    doc: 'The operating system must be new enough. Systems that are not listed do not pass.',
    atomic: true,
  }),
  geo_location_check: object(
    {
      locations: list(object(location, { doc: 'A place.' }), {
        doc: 'Countries and cities.',
        required: true,
        minItems: 1,
        maxItems: maxEntries,
      }),
      action: action('peers in these places'),
    },
    { doc: 'The peer must be, or must not be, in one of these places.', atomic: true },
  ),
  peer_network_range_check: object(
    {
      ranges: setOf(string({ doc: 'A range of addresses.', format: cidr }), {
        doc: 'IPv4 or IPv6 ranges, single hosts as /32 or /128. A range matches when it contains an address of a network interface of the peer, or the address from which the peer connects.',
        required: true,
        minItems: 1,
        maxItems: maxEntries,
      }),
      action: action('peers in these ranges'),
    },
    { doc: 'The peer must be, or must not be, in one of these networks.', atomic: true },
  ),
  process_check: object(
    {
      processes: list(object(process, { doc: 'A program, by its path on each system.', rules: [atLeastOnePath] }), {
        doc: 'Programs that must exist and be running. On a system for which a program has no path, the peer does not pass.',
        required: true,
        minItems: 1,
        maxItems: maxEntries,
      }),
    },
    { doc: 'These programs must run on the peer.', atomic: true },
  ),
  certificate_check: object(
    {
      ca_certificates: setOf(
        string({ doc: 'One certificate in PEM.', maxLength: maxCertificateLength, format: certificate }),
        {
          doc: 'Certificates of authorities, in PEM, one per entry.',
          required: true,
          minItems: 1,
          maxItems: maxAuthorities,
        },
      ),
    },
    {
      doc: 'The peer must have a certificate of one of these authorities. Android and iOS never pass.',
      atomic: true,
    },
  ),
};
