import { isObject } from '../../lib/json.ts';
import { defineKind } from '../../model/declare/kind.ts';
import { maxLengths, object, string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { uniqueName } from '../shared/unique-name.ts';
import { checks } from './checks.ts';

/** Example certificate. Nothing trusts it. */
const exampleAuthority = `-----BEGIN CERTIFICATE-----
MIIBuDCCAV+gAwIBAgIUF0eBb6Q9dcT4AGNSamacSTg8mx0wCgYIKoZIzj0EAwIw
KjEUMBIGA1UECgwLRXhhbXBsZSBPcmcxEjAQBgNVBAMMCURldmljZSBDQTAeFw0y
NjExMjExMjExMzVaFw00NjExMTYxMjExMzVaMCoxFDASBgNVBAoMC0V4YW1wbGUg
T3JnMRIwEAYDVQQDDAlEZXZpY2UgQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AASCbrR/m0s/2L+HY8rK3zPUQZ9RgXlUyxY+Bk/Qe4g1Q6dt4AeUrprnNzoJcHft
jPhyQ3c0ZvGakHTU5yBFNrfdo2MwYTAdBgNVHQ4EFgQUTAIMzv2pFbtCJn9kKUve
WhKI3hEwHwYDVR0jBBgwFoAUTAIMzv2pFbtCJn9kKUveWhKI3hEwDwYDVR0TAQH/
BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwIDRwAwRAIgFU7XiAgG
yy10+Gr7jw79JQE0md6ntfQw6nRNLyFdvlkCIE0pjSEb1bxcMcZdjzPXOIFKTNgN
ASjRb/TgQsoiVCIH
-----END CERTIFICATE-----
`;

const spec = {
  name: string({
    maxLength: maxLengths.name,
    doc: 'The name people see. Unique among the posture checks of the account.',
    required: true,
    minLength: 1,
  }),
  description: string({ doc: 'What the check is for.', required: true, documentDefault: '' }),
  checks: object(checks, { doc: 'The checks. Without any, every peer passes.', refusesUnknown: true, default: {} }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    PostureCheck: { fields: typeof spec; derived: object };
  }
}

export const postureCheck = defineKind({
  name: 'PostureCheck',
  doc: 'Requirements that a peer must meet before the rules of a policy let it through. A peer passes when it passes every given check.',
  path: '/api/posture-checks',
  idParameter: 'postureCheckId',
  module: 'policies',
  document: { allowed: true, shortName: 'hcheck' },
  spec,
  uniques: {
    name: uniqueName('a posture check'),
  },
  warnings: warnOfChecks,
  inUse: 'precondition',
  activity: { create: 'posture.check.create', update: 'posture.check.update', delete: 'posture.check.delete' },
  example: {
    name: 'Healthy machines',
    description: 'Company machines that are up to date, at home or in the office.',
    checks: {
      client_version_check: { min_version: '1.4.2' },
      os_version_check: {
        darwin: { min_version: '14.6' },
        linux: { min_kernel_version: '6.1.0' },
        windows: { min_kernel_version: '10.0.22631' },
      },
      geo_location_check: {
        locations: [{ country_code: 'DE' }, { country_code: 'PT', city_name: 'Lisbon' }],
        action: 'allow',
      },
      peer_network_range_check: { ranges: ['192.0.2.0/24', '2001:db8:bad::/48'], action: 'deny' },
      process_check: {
        processes: [{ linux_path: '/usr/bin/scanner', mac_path: '/Applications/Scanner.app/Contents/MacOS/Scanner' }],
      },
      certificate_check: { ca_certificates: [exampleAuthority] },
    },
  },
});

/** Warns of effects of checks that may not be intended. */
function warnOfChecks(
  _before: Stored<'PostureCheck'> | undefined,
  after: Stored<'PostureCheck'> | undefined,
): readonly string[] {
  if (after === undefined) return [];
  const checks = after.spec.checks ?? {};
  const systems = checks['os_version_check'];
  return [
    ...(Object.keys(checks).length === 0 ? [`${after.name} checks nothing: every peer passes`] : []),
    ...(isObject(systems) && Object.keys(systems).length === 0
      ? [`os_version_check of ${after.name} names no system: no peer passes`]
      : []),
    ...('geo_location_check' in checks
      ? [
          `geo_location_check of ${after.name} is conditional: without a location database the location of peers is unknown`,
        ]
      : []),
  ];
}
