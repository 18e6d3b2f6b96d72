import type { AuditEvent, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { autoGroupEvents } from '../shared/auto-groups.ts';
import { eventsIf } from '../shared/events.ts';

/** What events say about a key; never its value. */
export function keyMeta(key: Stored<'SetupKey'>): Readonly<Record<string, string>> {
  return { name: key.name, type: key.spec.type ?? '', key: key.derived.key_mask ?? '' };
}

/** One event for each group that a new key assigns. */
export function createdEvents(after: Stored<'SetupKey'>, state: State): readonly AuditEvent[] {
  return autoGroupEvents('setupkey.group', [], after.spec.auto_groups ?? [], state, { setupkey: after.name });
}

/** Revoking, taking that back, another value, and one event for each group that came or went. */
export function updatedEvents(
  before: Stored<'SetupKey'>,
  after: Stored<'SetupKey'>,
  state: State,
): readonly AuditEvent[] {
  const revoked = after.spec.revoked === true;
  const switched = before.spec.revoked !== after.spec.revoked;
  const renewed = before.derived.key_hash !== after.derived.key_hash;
  const groups = [before.spec.auto_groups ?? [], after.spec.auto_groups ?? []] as const;
  return [
    ...eventsIf(switched || renewed, switched && revoked ? 'setupkey.revoke' : 'setupkey.update', keyMeta(after)),
    ...autoGroupEvents('setupkey.group', ...groups, state, { setupkey: after.name }),
  ];
}
