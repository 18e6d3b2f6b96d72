import { longestCertificate, parseCertificate } from '../../lib/node-pure.ts';
import { type Format, list, object, oneOf, setOf, string } from '../../model/schema/field.ts';
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
  android: object(minVersion, { doc: 'What Android must have.' }),
  ios: object(minVersion, { doc: 'What iOS must have.' }),
  darwin: object(minVersion, { doc: 'What macOS must have.' }),
  linux: object(minKernel, { doc: 'What Linux must have.' }),
  windows: object(minKernel, { doc: 'What Windows must have.' }),
};

const location = {
  country_code: string({
    doc: 'The country, as the two letters of ISO 3166-1.',
    required: true,
    minLength: 1,
    format: countryCode,
  }),
  city_name: string({
    doc: 'A city of that country by its English name; without one the whole country is meant.',
    default: '',
    asGiven: true,
  }),
};

const action = (what: string) =>
  oneOf(['allow', 'deny'], { doc: `Whether ${what} pass, or are the only ones that do not.`, required: true });

const process = {
  linux_path: string({ doc: 'The executable on Linux.', default: '', asGiven: true }),
  mac_path: string({ doc: 'The executable on macOS.', default: '', asGiven: true }),
  windows_path: string({ doc: 'The executable on Windows.', default: '', asGiven: true }),
};

/** Every program needs a path on at least one system. */
const somePath = {
  rule: 'atLeastOne',
  members: ['linux_path', 'mac_path', 'windows_path'],
  code: 'process_without_path',
  at: '',
} as const;

/** Maximum number of authorities per check. The certificate chains of each peer are compared with all of them. */
const mostAuthorities = 100;

/**
 * The six checks. The object that contains them is closed, because a typo must not let peers pass. Each check is one
 * unit, because half a check would let other peers pass than intended.
 */
export const checks = {
  client_version_check: object(minVersion, {
    doc: 'The client must be new enough.',
    whole: true,
    formerly: ['nb_version_check'],
  }),
  os_version_check: object(systems, {
    doc: 'The operating system must be new enough. A system that is not named here does not pass.',
    whole: true,
  }),
  geo_location_check: object(
    {
      locations: list(object(location, { doc: 'A place.' }), {
        doc: 'Countries and cities.',
        required: true,
        minItems: 1,
      }),
      action: action('peers in these places'),
    },
    { doc: 'The peer must be, or must not be, in one of these places.', whole: true },
  ),
  peer_network_range_check: object(
    {
      ranges: setOf(string({ doc: 'A range of addresses.', format: cidr }), {
        doc: 'IPv4 or IPv6 ranges, single hosts as /32 or /128. One matches when it holds an address of an interface of the peer, or the address from which it connects.',
        required: true,
        minItems: 1,
      }),
      action: action('peers in these ranges'),
    },
    { doc: 'The peer must be, or must not be, in one of these networks.', whole: true },
  ),
  process_check: object(
    {
      processes: list(object(process, { doc: 'A program, by its path on each system.', rules: [somePath] }), {
        doc: 'Programs that must be there and run. On a system for which a program has no path, the peer does not pass.',
        required: true,
        minItems: 1,
      }),
    },
    { doc: 'These programs must run on the peer.', whole: true },
  ),
  certificate_check: object(
    {
      ca_certificates: setOf(
        string({ doc: 'One certificate in PEM.', maxLength: longestCertificate, format: certificate }),
        {
          doc: 'Certificates of authorities, in PEM, one an entry.',
          required: true,
          minItems: 1,
          maxItems: mostAuthorities,
        },
      ),
    },
    {
      doc: 'The peer must have a certificate of one of these authorities. Android and iOS never pass.',
      whole: true,
    },
  ),
};
