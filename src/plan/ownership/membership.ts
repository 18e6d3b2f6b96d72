import type { Fields } from '../../model/schema/field.ts';
import {
  apiOrigin,
  type Content,
  type MemberOrigins,
  membershipFields,
  membersIn,
  pickContent,
  withMembers,
} from '../../model/state/members.ts';
import type { Declaration } from '../../model/state/object.ts';
import { unitsOf } from '../../model/state/units.ts';

/** The origin of membership elements that documents put there. */
export const sourceOrigin = 'source';

/** Whether a path names an element of a membership. */
export function isMember(fields: Fields, path: string): boolean {
  return fields[fieldOf(path)]?.type === 'members' && path.endsWith(']');
}

/** The name of the field that a path begins with. */
export function fieldOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? '';
}

/** The fields whose membership a declaration keeps to what sources state: those that it states itself. */
export function exclusiveFields(
  fields: Fields,
  { exclusive, stated }: Pick<Declaration, 'exclusive' | 'stated'>,
): readonly string[] {
  if (exclusive !== true) return [];
  return membershipFields(fields).filter((name) => name in stated);
}

/**
 * What an object says after sources released it and its values stay: an element that no document states any more, and that
 * has no other origin, has the API as its origin from then on.
 */
export function withoutSourceOrigins(fields: Fields, content: Content, declared: readonly Declaration[]): Content {
  const orphans = membershipFields(fields).flatMap((name) => {
    const ids = [...membersIn(content, name)].filter(([, origins]) => origins.includes(sourceOrigin));
    return ids.length === 0 ? [] : [[name, ids] as const];
  });
  const stated = new Set(
    orphans.length === 0 ? [] : declared.flatMap((declaration) => [...unitsOf(fields, declaration.stated).keys()]),
  );
  return orphans.reduce((left, [name, members]) => {
    const released = members.filter(([id]) => !stated.has(`${name}[${id}]`));
    return withMembers(
      left,
      name,
      released.map(([id, origins]) => [id, withoutSource(origins)]),
    );
  }, pickContent(content));
}

function withoutSource(origins: MemberOrigins): MemberOrigins {
  const others = origins.filter((origin) => origin !== sourceOrigin);
  return others.length === 0 ? [apiOrigin] : others;
}
