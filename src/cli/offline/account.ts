import { buildAccountObjects } from '../../kinds/new-account.ts';
import type { Registry } from '../../model/declare/registry.ts';
import { contentFromSpec } from '../../model/state/members.ts';
import { type StoredObject, uncommittedMembers } from '../../model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../model/state/snapshot.ts';

const beginning = '1970-01-01T00:00:00.000Z';

/**
 * Returns a snapshot with the objects that every account has from the start and cannot delete. Documents may refer to
 * these.
 */
export function newSnapshot(registry: Registry): Snapshot {
  let ids = 0;
  const objects = buildAccountObjects({
    accountId: 'account',
    now: beginning,
    newId: () => {
      ids += 1;
      return `first-${ids}`;
    },
    networkRange: '100.64.0.0/10',
    networkRangeV6: 'fd00::/64',
    domain: '',
    owner: { id: 'owner', name: 'owner' },
  });
  const stored = objects.map((object): StoredObject => {
    const kind = registry.get(object.kind);
    return {
      ...object,
      ...contentFromSpec(kind.spec, object.spec),
      ...neverCommittedMembers,
      name: String(object.spec[kind.nameField] ?? object.key ?? ''),
    };
  });
  // In a real account, the other initial objects may have been changed or deleted. A document that declares one creates
  // it.
  const lasting = stored.filter((object) => {
    const kind = registry.get(object.kind);
    return kind.singleton !== undefined || kind.isSystem?.(object) === true;
  });
  return emptySnapshot(registry, 'account').with({ put: lasting, remove: [] });
}

/** Members of an object other than its content, for an object that was never committed. */
export const neverCommittedMembers = uncommittedMembers(beginning);
