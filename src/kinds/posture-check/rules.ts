import { isObject } from '../../lib/json.ts';
import type { Stored } from '../../model/state/stored.ts';

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
