import type { Fault, State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import type { Stored } from '../../model/state/stored.ts';
import { resourceTypeFault } from '../shared/resource-type.ts';

interface Named {
  readonly rule: string;
  readonly member: 'sourceResource' | 'destinationResource';
  readonly id: string;
  readonly type: string;
}

/**
 * Refuses a rule that names a network resource by another type than the address of the resource has. What was stored
 * before stays writable: an address may have changed since.
 */
export function refuseWrongTypes(
  { before, after, actor, rollback }: Mutation<Stored<'Policy'>>,
  next: State,
): readonly Fault[] {
  if (after === undefined || rollback === true || actor?.type === 'system') return [];
  const stored = new Set(namedResources(before).map(({ type, id }) => `${type} ${id}`));
  return namedResources(after).flatMap(({ rule, member, id, type }) => {
    const message = stored.has(`${type} ${id}`) ? undefined : resourceTypeFault(next, id, type);
    // Stored rules are sorted, so their positions differ from those in the request.
    return message === undefined
      ? []
      : [
          {
            code: 'resource_type_wrong' as const,
            path: '/rules',
            message: `\`${member}\` of the rule \`${rule}\`: ${message}`,
          },
        ];
  });
}

function namedResources(policy: Stored<'Policy'> | undefined): readonly Named[] {
  return (policy?.spec.rules ?? []).flatMap((rule) =>
    (['sourceResource', 'destinationResource'] as const).flatMap((member) => {
      const named = rule[member];
      return named === undefined ? [] : [{ rule: rule.name ?? '', member, id: named.id ?? '', type: named.type ?? '' }];
    }),
  );
}
