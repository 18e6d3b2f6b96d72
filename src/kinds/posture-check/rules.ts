import { isObject } from '../../lib/json.ts';
import type { Fault } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

interface Process {
  readonly linux_path: string;
  readonly mac_path: string;
  readonly windows_path: string;
}

interface Spec {
  readonly checks: {
    // A check that is not given is absent.
    readonly process_check?: { readonly processes: readonly Process[] } | undefined;
  };
}

/** Every program has a path on some system. */
export function checkProcesses({ checks }: Spec): readonly Fault[] {
  const processes = checks.process_check?.processes ?? [];
  return [...processes.entries()]
    .filter(([, { linux_path, mac_path, windows_path }]) => `${linux_path}${mac_path}${windows_path}` === '')
    .map(([at]) => ({
      code: 'process_without_path',
      path: `/checks/process_check/processes/${at}`,
      message: 'a process has no path; give `linux_path`, `mac_path` or `windows_path`',
    }));
}

/** Warns of effects of a check that may not be intended. */
export function warnOfChecks(
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
          `geo_location_check of ${after.name} is conditional: without a database of places nobody knows where a peer is`,
        ]
      : []),
  ];
}
