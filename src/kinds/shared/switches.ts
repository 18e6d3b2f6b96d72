import type { JsonObject } from '../../lib/json.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';

/** The events of flags that were switched: `<code>.enable` or `<code>.disable`, by field. */
export function switchEvents(
  codes: Readonly<Record<string, string>>,
  before: JsonObject,
  after: JsonObject,
  meta: Readonly<Record<string, string>>,
): readonly AuditEvent[] {
  return Object.entries(codes)
    .filter(([field]) => before[field] !== after[field])
    .map(([field, code]) => ({ code: `${code}.${after[field] === true ? 'enable' : 'disable'}`, meta }));
}
