import type { JsonObject } from '../lib/json.ts';
import type { Kind } from '../model/kind.ts';
import type { StoredObject } from '../model/object.ts';
import type { Problem } from '../model/problem.ts';
import { diffUnits, unitsOf } from '../model/units.ts';
import { sourceOrigin } from './state-units.ts';

/**
 * The units of a request that sources state with another value. Equal values pass, so clients that replace whole
 * objects can still change what nobody states.
 */
export function managedProblems(kind: Kind, before: StoredObject, spec: JsonObject): readonly Problem[] {
  if (before.declared.length === 0) return [];
  const changes = diffUnits(kind.spec, before.spec, spec);
  if (changes.length === 0) return [];
  const stated = before.declared.map((declaration) => ({ declaration, units: unitsOf(kind.spec, declaration.stated) }));
  return changes.flatMap((change) => {
    const owner = stated.find(({ units }) => units.has(change.path));
    if (owner === undefined || addsNothing(change.after)) return [];
    const { source, file, line } = owner.declaration;
    const message = `${change.path} is managed by the source ${source} (${file}:${line}); change it there`;
    return [
      {
        code: 'managed_field',
        kind: kind.name,
        key: before.key ?? before.name,
        path: `/${change.path.split(/[.[]/)[0]}`,
        message,
      },
    ];
  });
}

/** Membership that keeps the source's origin only gains or loses other origins. */
function addsNothing(after: unknown): boolean {
  return Array.isArray(after) && after.includes(sourceOrigin);
}
