import { type Address, type Cidr, contains, parseAddress, parseCidr } from '../../lib/net/address.ts';
import { isChainTrusted } from '../../lib/node-pure.ts';
import { compareVersions, leadingNumbers } from '../../lib/version.ts';
import type { postureResults } from '../../model/declare/access-words.ts';
import type { PeerFacts } from './facts.ts';

/** Whether a peer passes; `unknown` when that depends on unknown facts. */
export type PostureResult = (typeof postureResults)[number];

/** Checks of a posture check, as stored. Checks that are not set are absent. */
export interface Checks {
  readonly client_version_check?: { readonly min_version: string };
  readonly os_version_check?: Readonly<Partial<Record<string, MinVersion>>>;
  readonly geo_location_check?: { readonly locations: readonly Location[]; readonly action: Action };
  readonly peer_network_range_check?: { readonly ranges: readonly string[]; readonly action: Action };
  readonly process_check?: { readonly processes: readonly Process[] };
  readonly certificate_check?: { readonly ca_certificates: readonly string[] };
}

/** Name of a check. */
export type CheckName = keyof Checks;

type Action = 'allow' | 'deny';
type MinVersion = { readonly min_version?: string; readonly min_kernel_version?: string };
type Location = { readonly country_code: string; readonly city_name?: string };
type Process = { readonly linux_path?: string; readonly mac_path?: string; readonly windows_path?: string };

/** Decides whether a peer with given facts passes. */
export type PostureEvaluator = (facts: PeerFacts) => PostureResult;

/**
 * Compiles checks into a function, so that many peers can be tested. A peer passes when it passes every check that is
 * set.
 */
export function readPosture(checks: Checks): PostureEvaluator {
  const given = compileChecks(checks).map(([, check]) => check);
  return (facts) => combineResults(given.map((check) => check(facts)));
}

/** Returns the result of each check that is set. */
export function checkResults(
  checks: Checks,
  facts: PeerFacts,
): readonly { readonly check: CheckName; readonly result: PostureResult }[] {
  return compileChecks(checks).map(([check, ask]) => ({ check, result: ask(facts) }));
}

/** Combines results: any failure makes it `fail`, otherwise any unknown makes it `unknown`. */
export function combineResults(results: readonly PostureResult[]): PostureResult {
  if (results.includes('fail')) return 'fail';
  return results.includes('unknown') ? 'unknown' : 'pass';
}

function compileChecks(checks: Checks): readonly (readonly [CheckName, PostureEvaluator])[] {
  const given = <N extends CheckName>(name: N, read: (check: NonNullable<Checks[N]>) => PostureEvaluator) => {
    const check = checks[name];
    return check === undefined ? [] : [[name, read(check)] as const];
  };
  return [
    ...given('client_version_check', readClientVersion),
    ...given('os_version_check', readSystemVersion),
    ...given('geo_location_check', readLocation),
    ...given('peer_network_range_check', readRanges),
    ...given('process_check', readProcesses),
    ...given('certificate_check', readCertificates),
  ];
}

function readClientVersion({ min_version }: { readonly min_version: string }): PostureEvaluator {
  return ({ clientVersion }) => checkMinVersion(clientVersion, min_version);
}

const checkedSystems = ['android', 'ios', 'darwin', 'linux', 'windows'];

/** A known system without an entry does not pass. Systems that the check cannot list always pass. */
function readSystemVersion(systems: Readonly<Partial<Record<string, MinVersion>>>): PostureEvaluator {
  return ({ system, systemVersion, kernelVersion }) => {
    if (system === undefined) return 'unknown';
    if (!checkedSystems.includes(system)) return 'pass';
    const least = systems[system];
    if (least === undefined) return 'fail';
    if (least.min_kernel_version === undefined) return checkMinVersion(systemVersion, least.min_version ?? '0');
    // Suffixes that distributions append to a kernel version do not indicate its age.
    const numbers = system === 'linux' ? leadingNumbers : (text: string) => text;
    return checkMinVersion(
      kernelVersion === undefined ? undefined : numbers(kernelVersion),
      numbers(least.min_kernel_version) ?? '0',
    );
  };
}

/** Compares versions. A version that cannot be parsed counts as unknown. */
function checkMinVersion(version: string | undefined, least: string): PostureResult {
  const order = version === undefined ? undefined : compareVersions(version, least);
  if (order === undefined) return 'unknown';
  return order >= 0 ? 'pass' : 'fail';
}

function readLocation({
  locations,
  action,
}: {
  readonly locations: readonly Location[];
  readonly action: Action;
}): PostureEvaluator {
  return (facts) => {
    if (facts.country === undefined || facts.country === '') return 'unknown';
    const matches = locations.map((location) => checkLocation(location, facts));
    if (matches.includes('pass')) return action === 'allow' ? 'pass' : 'fail';
    if (matches.includes('unknown')) return 'unknown';
    return action === 'allow' ? 'fail' : 'pass';
  };
}

function checkLocation(
  { country_code, city_name = '' }: Location,
  { country = '', city = '' }: PeerFacts,
): PostureResult {
  if (country.toUpperCase() !== country_code.toUpperCase()) return 'fail';
  if (city_name === '') return 'pass';
  if (city === '') return 'unknown';
  return normalizeName(city) === normalizeName(city_name) ? 'pass' : 'fail';
}

function normalizeName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/**
 * A range matches when it contains any address of the peer. A peer without addresses does not pass, whatever the
 * action.
 */
function readRanges({
  ranges,
  action,
}: {
  readonly ranges: readonly string[];
  readonly action: Action;
}): PostureEvaluator {
  const read = ranges.flatMap(readRange);
  return ({ addresses, connectionAddress }) => {
    const known = [...(addresses ?? []), ...(connectionAddress === undefined ? [] : [connectionAddress])].flatMap(
      readAddress,
    );
    if (known.some((address) => read.some((range) => contains(range, address))))
      return action === 'allow' ? 'pass' : 'fail';
    if (addresses === undefined || connectionAddress === undefined) return 'unknown';
    return action === 'deny' && known.length > 0 ? 'pass' : 'fail';
  };
}

function readRange(text: string): readonly Cidr[] {
  const result = parseCidr(text);
  return result.ok ? [result.cidr] : [];
}

/** Parses an address, ignoring a prefix length or zone. IPv4-mapped IPv6 counts as IPv4. */
function readAddress(text: string): readonly Address[] {
  const bare = text.replace(/[/%].*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  const address = parseAddress(bare);
  return address === undefined ? [] : [address];
}

const pathOn: Readonly<Record<string, keyof Process>> = {
  linux: 'linux_path',
  darwin: 'mac_path',
  windows: 'windows_path',
};

/** A program without a path for the peer's system cannot run there, so the check fails. */
function readProcesses({ processes }: { readonly processes: readonly Process[] }): PostureEvaluator {
  return ({ system, processes: running }) => {
    if (system === undefined) return 'unknown';
    const member = pathOn[system];
    const paths = processes.map((program) => (member === undefined ? '' : (program[member] ?? '')));
    if (paths.includes('')) return 'fail';
    if (running === undefined) return 'unknown';
    const spelled = system === 'windows' ? spellWindowsPath : (path: string) => path;
    const found = new Set(running.map(spelled));
    return paths.every((path) => found.has(spelled(path))) ? 'pass' : 'fail';
  };
}

function spellWindowsPath(path: string): string {
  return path.replaceAll('/', '\\').toLowerCase();
}

const systemsWithoutCertificates = ['android', 'ios'];

function readCertificates({ ca_certificates }: { readonly ca_certificates: readonly string[] }): PostureEvaluator {
  return ({ system, certificates }) => {
    if (system !== undefined && systemsWithoutCertificates.includes(system)) return 'fail';
    if (certificates === undefined) return 'unknown';
    if (!certificates.some((chain) => isChainTrusted(chain, ca_certificates))) return 'fail';
    return system === undefined ? 'unknown' : 'pass';
  };
}
