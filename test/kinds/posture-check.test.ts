import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { unitsOf } from '../../src/model/state/units.ts';
import { authority, leaf } from '../setup/certificates.ts';
import { faultsOf, registry, stored } from './objects.ts';

const kind = registry.get('PostureCheck');
const spec = (checks: JsonObject): JsonObject => ({ name: 'c', description: '', checks });
const checksOf = (checks: JsonObject) => canonicalSpec(kind, spec(checks)).spec['checks'] as JsonObject;

describe('versions of a posture check', () => {
  const cases: readonly (readonly [string, boolean])[] = [
    ['1', true],
    ['0.32.0', true],
    ['v1.4.2', true],
    ['10.0.22631', true],
    ['1.4.2-rc.1+build5', true],
    ['6.1.0-18-amd64', true],
    ['1.', false],
    ['.1', false],
    ['latest', false],
    ['1 4', false],
    ['1.4.x', false],
  ];

  it.each(cases)('%j parses: %s', (text, ok) => {
    const version = { min_version: text };
    const kernel = { min_kernel_version: text };
    expect(faultsOf('PostureCheck', spec({ client_version_check: version }))).toEqual(
      ok ? [] : ['version_invalid /checks/client_version_check/min_version'],
    );
    const systems = { android: version, ios: version, darwin: version, linux: kernel, windows: kernel };
    expect(faultsOf('PostureCheck', spec({ os_version_check: systems }))).toHaveLength(ok ? 0 : 5);
  });
});

describe('locations of a posture check', () => {
  const locationCheck = (code: string) =>
    spec({ geo_location_check: { action: 'allow', locations: [{ country_code: code, city_name: 'Somewhere' }] } });

  it.each(['DE', 'de', 'GB', 'XK', 'ZW', 'AD'])('accept the country code %s', (code) => {
    expect(faultsOf('PostureCheck', locationCheck(code))).toEqual([]);
  });

  it.each(['UK', 'XX', 'D', 'DEU', 'Germany', '49'])('refuse the country code %s', (code) => {
    expect(faultsOf('PostureCheck', locationCheck(code))).toEqual([
      'country_code_invalid /checks/geo_location_check/locations/0/country_code',
    ]);
  });

  it('are stored in upper case; the message for a mistaken country code suggests the right one', () => {
    expect(canonicalSpec(kind, locationCheck('pt')).spec).toMatchObject({
      checks: { geo_location_check: { locations: [{ country_code: 'PT' }] } },
    });
    expect(canonicalSpec(kind, locationCheck('UK')).faults[0]?.message).toContain('did you mean `GB`?');
  });
});

describe('ranges of a posture check', () => {
  const ranges = (...texts: readonly string[]) => ({ peer_network_range_check: { action: 'deny', ranges: texts } });

  it.each([
    ['10.0.0.0/8', []],
    ['10.0.0.7/32', []],
    ['::/0', []],
    ['2001:db8::1/128', []],
    ['10.0.0.0/33', ['cidr_invalid']],
    ['2001:db8::/129', ['cidr_invalid']],
    ['10.0.0.1/8', ['cidr_invalid']],
    ['10.0.0.1', ['cidr_invalid']],
    ['office', ['cidr_invalid']],
  ])('%s gives the faults %j', (text, codes) => {
    const faults = faultsOf('PostureCheck', spec(ranges(text)));
    expect(faults).toEqual(codes.map((code) => `${code} /checks/peer_network_range_check/ranges/0`));
  });

  it('are stored as a set in canonical form', () => {
    expect(checksOf(ranges('FD00::/16', '10.0.0.0/8', 'fd00:0::/16'))).toEqual(ranges('10.0.0.0/8', 'fd00::/16'));
  });
});

describe('processes of a posture check', () => {
  const processes = (...items: readonly JsonObject[]) => ({ process_check: { processes: items } });

  it.each<readonly [JsonObject, readonly string[]]>([
    [{ linux_path: '/usr/bin/x' }, []],
    [{ mac_path: '/usr/bin/x' }, []],
    [{ windows_path: '%ProgramFiles%\\x.exe' }, []],
    [{}, ['process_without_path /checks/process_check/processes/1']],
    [{ linux_path: '' }, ['process_without_path /checks/process_check/processes/1']],
  ])('%j gives the faults %j', (process, faults) => {
    expect(faultsOf('PostureCheck', spec(processes({ linux_path: '/bin/a' }, process)))).toEqual(faults);
  });
});

describe('certificates of a posture check', () => {
  const certificates = (...texts: readonly string[]) => ({ certificate_check: { ca_certificates: texts } });
  const faultOf = (text: string) => canonicalSpec(kind, spec(certificates(text))).faults[0]?.message;

  it('are stored in canonical form, without duplicates', () => {
    const loud = `Subject: an authority\r\n${authority.replaceAll('\n', '\r\n')}\r\nand more`;
    const long = authority.replace(/(?<=[A-Za-z\d+/])\n(?=[A-Za-z\d+/])/g, '');
    expect(checksOf(certificates(loud, authority, long))).toEqual(certificates(authority));
  });

  it.each([
    ['of an authority', authority, undefined],
    ['that may not sign', leaf, 'CA:FALSE'],
    ['several in one text', authority + authority, 'several'],
    ['no certificate', 'certificate', 'not an X.509 certificate'],
    ['an empty block', '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n', 'not an X.509 certificate'],
    ['a broken one', authority.replace('MII', 'MIX'), 'not an X.509 certificate'],
  ])('must each be a single CA certificate: %s', (_, text, message) => {
    if (message === undefined) expect(faultOf(text)).toBeUndefined();
    else expect(faultOf(text)).toContain(message);
  });

  it('are not repeated in the message when refused, as the text may be a private key', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n';
    expect(faultOf(key)).not.toContain('c2VjcmV0');
  });
});

describe('a posture check', () => {
  const risks = (checks: JsonObject) => kind.warnings?.(undefined, stored('PostureCheck', 'c', spec(checks)));

  it('has no checks by default, and warns that every peer passes', () => {
    expect(canonicalSpec(kind, { name: 'c', description: '' }).spec['checks']).toEqual({});
    expect(risks({})).toEqual([expect.stringContaining('every peer passes')]);
    expect(risks({ client_version_check: { min_version: '1' } })).toEqual([]);
  });

  it('warns when no peer passes, and when the result is unknown', () => {
    expect(risks({ os_version_check: {} })).toEqual([expect.stringContaining('no peer passes')]);
    const locationCheck = { action: 'allow', locations: [{ country_code: 'DE' }] };
    expect(risks({ geo_location_check: locationCheck })).toEqual([expect.stringContaining('conditional')]);
  });

  it('has a separate unit for each check', () => {
    const { spec: full } = canonicalSpec(kind, kind.example);
    const paths = [...unitsOf(kind.spec, full).keys()];
    const names = Object.keys(kind.example['checks'] as Readonly<Record<string, Json>>);
    expect(paths.sort()).toEqual(['description', 'name', ...names.map((name) => `checks.${name}`)].sort());
  });

  it('has a unique name', () => {
    const object = stored('PostureCheck', 'c', spec({}));
    expect(kind.uniques['name']?.value(object)).toBe('c');
    expect(kind.uniques['name']?.message('c')).toContain('already exists');
  });
});
