import type { AuditEvent, State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { autoGroupEvents } from '../shared/auto-groups.ts';
import { derivedText, textOf, textsOf } from '../shared/stored.ts';

/** What events say about a key; never its value. */
export function keyMeta(key: StoredObject): Readonly<Record<string, string>> {
  return { name: key.name, type: textOf(key, 'type'), key: derivedText(key, 'key_mask') ?? '' };
}

/** One event for each group that a new key assigns. */
export function createdEvents(after: StoredObject, state: State): readonly AuditEvent[] {
  return autoGroupEvents('setupkey.group', [], textsOf(after, 'auto_groups'), state, { setupkey: after.name });
}

/** Revoking, taking that back, and one event for each group that came or went. */
export function updatedEvents(before: StoredObject, after: StoredObject, state: State): readonly AuditEvent[] {
  const revoked = after.spec['revoked'] === true;
  const switched = before.spec['revoked'] === after.spec['revoked'];
  const groups = [textsOf(before, 'auto_groups'), textsOf(after, 'auto_groups')] as const;
  return [
    ...(switched ? [] : [{ code: revoked ? 'setupkey.revoke' : 'setupkey.update', meta: keyMeta(after) }]),
    ...autoGroupEvents('setupkey.group', ...groups, state, { setupkey: after.name }),
  ];
}
