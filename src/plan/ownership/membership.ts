import type { Fields } from '../../model/schema/field.ts';
import {
  apiOrigin,
  type Content,
  type MemberOrigins,
  membershipFields,
  membersIn,
  pickContent,
  withMemberEdits,
} from '../../model/state/members.ts';
import type { Declaration } from '../../model/state/object.ts';
import { unitsOf } from '../../model/state/units.ts';

/** Origin of members that documents added. */
export const sourceOrigin = 'source';

/** Whether a path names a member of a membership field. */
export function isMember(fields: Fields, path: string): boolean {
  return fields[fieldNameOf(path)]?.type === 'members' && path.endsWith(']');
}

/** Returns the name of the field at the start of a path. */
export function fieldNameOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? '';
}

/**
 * Returns the membership fields in which a declaration allows only members that sources state: the fields that the
 * declaration itself states. Empty when it is not exclusive.
 */
export function exclusiveFields(
  fields: Fields,
  { exclusive, stated }: Pick<Declaration, 'exclusive' | 'stated'>,
): readonly string[] {
  if (exclusive !== true) return [];
  return membershipFields(fields).filter((name) => name in stated);
}

/**
 * Returns the content of an object after sources released it. Values stay. A member that no document states any more,
 * and that has no other origin, gets the API as its origin.
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
    return withMemberEdits(
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
