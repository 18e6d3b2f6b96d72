import { authority } from '../setup/certificates.ts';
import { one, type Rows, sample } from './row.ts';
import { answer, fields, list, type Members, mayBeAbsent, O, R, text } from './shape.ts';
import type { World } from './world.ts';

const absent = 'ruling 3: absent objects are omitted';

/** Creates a posture check that every peer passes. Returns its id. */
export const newCheck = async (world: World) =>
  (await world.send('POST', '/api/posture-checks', { name: world.fresh('Check'), description: '' })).id;

const version = { min_version: text };
const kernel = { min_kernel_version: text };
const path = mayBeAbsent(text, 'as it was given: nothing about this system');
const processPaths = { linux_path: path, mac_path: path, windows_path: path };

const postureCheck = answer({
  id: text,
  name: text,
  description: text,
  checks: answer({
    client_version_check: mayBeAbsent(answer(version), absent),
    os_version_check: mayBeAbsent(
      answer({
        android: mayBeAbsent(answer(version), absent),
        ios: mayBeAbsent(answer(version), absent),
        darwin: mayBeAbsent(answer(version), absent),
        linux: mayBeAbsent(answer(kernel), absent),
        windows: mayBeAbsent(answer(kernel), absent),
      }),
      absent,
    ),
    geo_location_check: mayBeAbsent(
      answer({
        locations: list(
          answer({ country_code: text, city_name: mayBeAbsent(text, 'as it was given: the whole country') }),
        ),
        action: text,
      }),
      absent,
    ),
    peer_network_range_check: mayBeAbsent(answer({ ranges: list(text), action: text }), absent),
    process_check: mayBeAbsent(answer({ processes: list(answer(processPaths)) }), absent),
    certificate_check: mayBeAbsent(answer({ ca_certificates: list(text) }), absent),
  }),
});

const onVersion = O(fields({ min_version: R(text) }));
const onKernel = O(fields({ min_kernel_version: R(text) }));

const postureFields: Members = {
  name: R(text),
  description: R(text),
  checks: O(
    fields({
      client_version_check: onVersion,
      os_version_check: O(
        fields({ android: onVersion, ios: onVersion, darwin: onVersion, linux: onKernel, windows: onKernel }),
      ),
      geo_location_check: O(
        fields({ locations: R(list(fields({ country_code: R(text), city_name: O(text) }))), action: R(text) }),
      ),
      peer_network_range_check: O(fields({ ranges: R(list(text)), action: R(text) })),
      process_check: O(
        fields({ processes: R(list(fields({ linux_path: O(text), mac_path: O(text), windows_path: O(text) }))) }),
      ),
      certificate_check: O(fields({ ca_certificates: R(list(text)) })),
    }),
  ),
};

const postureSamples = [
  sample((world) => ({
    name: world.fresh('Check'),
    description: 'All six.',
    checks: {
      client_version_check: { min_version: '1.4.2' },
      os_version_check: {
        android: { min_version: '14' },
        ios: { min_version: '17.4' },
        darwin: { min_version: '14.6' },
        linux: { min_kernel_version: '6.1.0' },
        windows: { min_kernel_version: '10.0.22631' },
      },
      geo_location_check: { locations: [{ country_code: 'PT', city_name: 'Lisbon' }], action: 'allow' },
      peer_network_range_check: { ranges: ['192.0.2.0/24', '2001:db8::/48'], action: 'deny' },
      process_check: { processes: [{ linux_path: '/usr/bin/a', mac_path: '/opt/a', windows_path: 'C:\\a.exe' }] },
      certificate_check: { ca_certificates: [authority] },
    },
  })),
];

/** Operations on posture checks. */
export const postureChecks: Rows = {
  'GET /api/posture-checks': { given: newCheck, answer: list(postureCheck) },
  'POST /api/posture-checks': { request: { fields: postureFields, samples: postureSamples }, answer: postureCheck },
  'GET /api/posture-checks/{postureCheckId}': {
    at: one('postureCheckId', newCheck),
    answer: postureCheck,
  },
  'PUT /api/posture-checks/{postureCheckId}': {
    at: one('postureCheckId', newCheck),
    request: { fields: postureFields, samples: postureSamples },
    answer: postureCheck,
  },
  'DELETE /api/posture-checks/{postureCheckId}': {
    at: one('postureCheckId', newCheck),
    answer: 'no body',
  },
};
