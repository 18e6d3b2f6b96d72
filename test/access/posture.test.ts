import { describe, expect, test } from 'vitest';
import type { PeerFacts } from '../../src/access/ruleset/facts.ts';
import {
  type Checks,
  checkResults,
  combineResults,
  type PostureResult,
  readPosture,
} from '../../src/access/ruleset/posture.ts';
import { chain } from '../setup/certificates.ts';

type Case = readonly [facts: PeerFacts, result: PostureResult];

function expectAll(checks: Checks, cases: readonly Case[]): void {
  const posture = readPosture(checks);
  expect(cases.map(([facts]) => [facts, posture(facts)])).toEqual(cases);
}

describe('a posture check', () => {
  test('without any checks passes for every peer, even without known facts', () => {
    expectAll({}, [
      [{}, 'pass'],
      [{ system: 'linux' }, 'pass'],
    ]);
  });

  test('passes when all checks pass, fails when any fails, and is unknown otherwise', () => {
    const checks: Checks = {
      client_version_check: { min_version: '1.4' },
      geo_location_check: { locations: [{ country_code: 'DE' }], action: 'allow' },
    };
    expectAll(checks, [
      [{ clientVersion: '1.4', country: 'DE' }, 'pass'],
      [{ clientVersion: '1.4' }, 'unknown'],
      [{ clientVersion: '1.3' }, 'fail'],
      [{ clientVersion: '1.3', country: 'DE' }, 'fail'],
      [{}, 'unknown'],
    ]);
    expect(combineResults([])).toBe('pass');
    expect(checkResults(checks, { clientVersion: '1.3' })).toEqual([
      { check: 'client_version_check', result: 'fail' },
      { check: 'geo_location_check', result: 'unknown' },
    ]);
  });
});

describe('the client version check', () => {
  test('compares number by number, and orders pre-releases before their release', () => {
    expectAll({ client_version_check: { min_version: '1.4.2' } }, [
      [{ clientVersion: '1.4.2' }, 'pass'],
      [{ clientVersion: 'v1.4.2' }, 'pass'],
      [{ clientVersion: '1.4.10' }, 'pass'],
      [{ clientVersion: '1.10' }, 'pass'],
      [{ clientVersion: '2' }, 'pass'],
      [{ clientVersion: '1.4.2+build.1' }, 'pass'],
      [{ clientVersion: '1.4.3-rc.1' }, 'pass'],
      [{ clientVersion: '1.4.2-rc.1' }, 'fail'],
      [{ clientVersion: '1.4.1' }, 'fail'],
      [{ clientVersion: '1.4' }, 'fail'],
    ]);
  });

  test('treats an unreadable version like a missing one', () => {
    expectAll({ client_version_check: { min_version: '1.4.2' } }, [
      [{ clientVersion: 'development' }, 'unknown'],
      [{ clientVersion: '' }, 'unknown'],
      [{}, 'unknown'],
    ]);
  });
});

describe('the OS version check', () => {
  const checks: Checks = {
    os_version_check: {
      darwin: { min_version: '14.6' },
      android: { min_version: '14' },
      linux: { min_kernel_version: '6.1.0-18' },
      windows: { min_kernel_version: '10.0.22631' },
    },
  };

  test('compares the kernel version on Linux, cut after its numbers, and on Windows', () => {
    expectAll(checks, [
      [{ system: 'linux', kernelVersion: '6.1.0-17-amd64' }, 'pass'],
      [{ system: 'linux', kernelVersion: '6.8.0-41-generic' }, 'pass'],
      [{ system: 'linux', kernelVersion: '6.10' }, 'pass'],
      [{ system: 'linux', kernelVersion: '6.1' }, 'pass'],
      [{ system: 'linux', kernelVersion: '6.0.12-76060006-generic' }, 'fail'],
      [{ system: 'linux', kernelVersion: '5.15.167.4-microsoft-standard-WSL2' }, 'fail'],
      [{ system: 'linux', kernelVersion: 'unknown' }, 'unknown'],
      [{ system: 'linux', systemVersion: '24.04' }, 'unknown'],
      [{ system: 'windows', kernelVersion: '10.0.22631.3447' }, 'pass'],
      [{ system: 'windows', kernelVersion: '10.0.22621' }, 'fail'],
    ]);
  });

  test('compares the system version on other systems', () => {
    expectAll(checks, [
      [{ system: 'darwin', systemVersion: '14.6' }, 'pass'],
      [{ system: 'darwin', systemVersion: '15' }, 'pass'],
      [{ system: 'darwin', systemVersion: '14.5.9' }, 'fail'],
      [{ system: 'darwin', kernelVersion: '23.6.0' }, 'unknown'],
      [{ system: 'android', systemVersion: '13' }, 'fail'],
    ]);
  });

  test('fails any of the five known systems that it does not name, and passes other systems', () => {
    expectAll(checks, [
      [{ system: 'ios', systemVersion: '99' }, 'fail'],
      [{ system: 'freebsd', kernelVersion: '1' }, 'pass'],
      [{ system: 'wasm' }, 'pass'],
      [{}, 'unknown'],
    ]);
    expectAll({ os_version_check: {} }, [[{ system: 'linux', kernelVersion: '6.1' }, 'fail']]);
  });
});

describe('the location check', () => {
  const locations = [
    { country_code: 'DE', city_name: '' },
    { country_code: 'PT', city_name: 'Lisbon' },
  ];

  test('with `allow` passes only the listed locations', () => {
    expectAll({ geo_location_check: { locations, action: 'allow' } }, [
      [{ country: 'DE', city: 'Berlin' }, 'pass'],
      [{ country: 'de' }, 'pass'],
      [{ country: 'PT', city: 'lisbon' }, 'pass'],
      [{ country: 'PT', city: 'Porto' }, 'fail'],
      [{ country: 'FR' }, 'fail'],
    ]);
  });

  test('with `deny` fails the listed locations', () => {
    expectAll({ geo_location_check: { locations, action: 'deny' } }, [
      [{ country: 'DE' }, 'fail'],
      [{ country: 'PT', city: 'Lisbon' }, 'fail'],
      [{ country: 'PT', city: 'Porto' }, 'pass'],
      [{ country: 'FR' }, 'pass'],
    ]);
  });

  test.each(['allow', 'deny'] as const)('is unknown when the location is not known: %s', (action) => {
    expectAll({ geo_location_check: { locations, action } }, [
      [{}, 'unknown'],
      [{ country: '' }, 'unknown'],
      [{ city: 'Berlin' }, 'unknown'],
      [{ country: 'PT' }, 'unknown'],
      [{ country: 'PT', city: '' }, 'unknown'],
    ]);
  });
});

describe('the network range check', () => {
  const ranges = ['192.168.1.16/28', '203.0.113.7/32', '2001:db8::/32'];
  const elsewhere = { addresses: ['10.0.0.5/8'], connectionAddress: '198.51.100.1' };

  test('matches any interface address or the public address', () => {
    const matching: readonly PeerFacts[] = [
      { addresses: ['192.168.1.17/24'], connectionAddress: '198.51.100.1' },
      { addresses: ['192.168.1.17'] },
      { addresses: ['10.0.0.5/8', '2001:db8::1/64'] },
      { addresses: [], connectionAddress: '203.0.113.7' },
      { connectionAddress: '::ffff:203.0.113.7' },
      { addresses: ['2001:DB8:0:0::9%eth0'] },
    ];
    expectAll(
      { peer_network_range_check: { ranges, action: 'allow' } },
      matching.map((facts) => [facts, 'pass']),
    );
    expectAll(
      { peer_network_range_check: { ranges, action: 'deny' } },
      matching.map((facts) => [facts, 'fail']),
    );
  });

  test('with no match fails under `allow` and passes under `deny`', () => {
    const others: readonly PeerFacts[] = [
      elsewhere,
      { addresses: ['192.168.1.15/24'], connectionAddress: '203.0.113.8' },
      { addresses: ['::ffff:10.0.0.1'], connectionAddress: '198.51.100.1' },
      { addresses: ['192.168.1.1/16'], connectionAddress: '' },
    ];
    expectAll(
      { peer_network_range_check: { ranges, action: 'allow' } },
      others.map((facts) => [facts, 'fail']),
    );
    expectAll(
      { peer_network_range_check: { ranges, action: 'deny' } },
      others.map((facts) => [facts, 'pass']),
    );
  });

  test.each(['allow', 'deny'] as const)(
    'is unknown when addresses are not known, and fails when there are none: %s',
    (action) => {
      expectAll({ peer_network_range_check: { ranges, action } }, [
        [{}, 'unknown'],
        [{ addresses: ['10.0.0.5/8'] }, 'unknown'],
        [{ connectionAddress: '198.51.100.1' }, 'unknown'],
        [{ addresses: [], connectionAddress: '' }, 'fail'],
        [{ addresses: ['nonsense'], connectionAddress: '' }, 'fail'],
      ]);
    },
  );

  test('matches any address of the same family with the range 0.0.0.0/0', () => {
    expectAll({ peer_network_range_check: { ranges: ['0.0.0.0/0'], action: 'allow' } }, [
      [elsewhere, 'pass'],
      [{ addresses: ['2001:db8::1/64'], connectionAddress: '2001:db8::2' }, 'fail'],
    ]);
  });
});

describe('the process check', () => {
  const checks: Checks = {
    process_check: {
      processes: [
        { linux_path: '/usr/bin/scanner', mac_path: '/Applications/Scanner', windows_path: 'C:\\Scan\\scanner.exe' },
        { linux_path: '/usr/bin/agent', mac_path: '', windows_path: 'C:\\agent.exe' },
      ],
    },
  };

  test('requires all processes to run, under the path for the system', () => {
    expectAll(checks, [
      [{ system: 'linux', processes: ['/usr/bin/agent', '/usr/bin/scanner', '/bin/sh'] }, 'pass'],
      [{ system: 'linux', processes: ['/usr/bin/scanner'] }, 'fail'],
      [{ system: 'linux', processes: ['/usr/bin/Agent', '/usr/bin/scanner'] }, 'fail'],
      [{ system: 'windows', processes: ['c:\\scan\\SCANNER.exe', 'C:/agent.exe'] }, 'pass'],
      [{ system: 'linux', processes: [] }, 'fail'],
    ]);
  });

  test('fails on a system for which a process has no path', () => {
    expectAll(checks, [
      [{ system: 'darwin', processes: ['/Applications/Scanner'] }, 'fail'],
      [{ system: 'darwin' }, 'fail'],
      [{ system: 'ios', processes: ['/usr/bin/agent', '/usr/bin/scanner'] }, 'fail'],
      [{ system: 'freebsd' }, 'fail'],
    ]);
  });

  test('is unknown when the system or the processes were not reported', () => {
    expectAll(checks, [
      [{ system: 'linux' }, 'unknown'],
      [{ processes: ['/usr/bin/agent', '/usr/bin/scanner'] }, 'unknown'],
    ]);
  });
});

describe('the certificate check', () => {
  const checks: Checks = { certificate_check: { ca_certificates: [chain.root] } };

  test('requires a certificate chain to one of the authorities', () => {
    expectAll(checks, [
      [{ system: 'linux', certificates: [[chain.server]] }, 'pass'],
      [
        {
          system: 'linux',
          certificates: [
            [chain.forged, chain.pretender],
            [chain.laptop, chain.issuing],
          ],
        },
        'pass',
      ],
      [{ system: 'linux', certificates: [[chain.laptop]] }, 'fail'],
      [{ system: 'linux', certificates: [] }, 'fail'],
    ]);
  });

  test('always fails on Android and iOS', () => {
    expectAll(checks, [
      [{ system: 'android', certificates: [[chain.server]] }, 'fail'],
      [{ system: 'ios' }, 'fail'],
    ]);
  });

  test('is unknown when the system or the certificates are not known', () => {
    expectAll(checks, [
      [{ system: 'linux' }, 'unknown'],
      [{ certificates: [[chain.server]] }, 'unknown'],
      [{ certificates: [[chain.laptop]] }, 'fail'],
    ]);
  });
});
