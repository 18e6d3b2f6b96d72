import { asObject, type JsonObject } from '../../lib/json.ts';
import type { ActivityCode } from '../../model/declare/activities.ts';
import type { AuditEvent, State } from '../../model/declare/kind.ts';
import { isEmpty } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { type SwitchStem, switchEvents } from '../shared/events.ts';

type Meta = Readonly<Record<string, string>>;

const switchStems: Readonly<Record<string, SwitchStem>> = {
  peer_login_expiration_enabled: 'account.setting.peer.login.expiration',
  peer_inactivity_expiration_enabled: 'account.peer.inactivity.expiration',
  groups_propagation_enabled: 'account.setting.group.propagation',
  routing_peer_dns_resolution_enabled: 'account.setting.routing.peer.dns.resolution',
  lazy_connection_enabled: 'account.setting.lazy.connection',
  peer_expose_enabled: 'account.setting.peer.expose',
  local_mfa_enabled: 'account.setting.local.mfa',
};

const extraSwitchStems: Readonly<Record<string, SwitchStem>> = {
  peer_approval_enabled: 'account.setting.peer.approval',
};

/** Settings whose change is audited with an event, and the metadata of the event. */
const valueActivities: Readonly<
  Record<string, { readonly code: ActivityCode; meta(before: string, after: string): Meta }>
> = {
  peer_login_expiration: { code: 'account.setting.peer.login.expiration.update', meta: () => ({}) },
  peer_inactivity_expiration: { code: 'account.peer.inactivity.expiration.update', meta: () => ({}) },
  auto_update_version: { code: 'account.settings.auto.version.update', meta: (_, version) => ({ version }) },
  dns_domain: { code: 'account.dns.domain.update', meta: oldAndNew('dns_domain') },
  network_range: { code: 'account.network.range.update', meta: oldAndNew('network_range') },
  network_range_v6: { code: 'account.network.range.update', meta: oldAndNew('network_range_v6') },
};

/** Returns one event for each changed setting that has an activity code. */
export function updatedEvents(
  before: Stored<'Account'>,
  after: Stored<'Account'>,
  state: State,
): readonly AuditEvent[] {
  const [was, is] = [before.spec.settings ?? {}, after.spec.settings ?? {}];
  const [wasExtra, isExtra] = [sectionOf(was, 'extra'), sectionOf(is, 'extra')];
  return [
    ...switchEvents(switchStems, was, is, {}),
    ...switchEvents(extraSwitchStems, wasExtra, isExtra, {}),
    ...valueEvents(was, is),
    ...ipv6Events(was, is),
    ...logGroupEvents(logGroupsOf(wasExtra), logGroupsOf(isExtra), state),
  ];
}

function oldAndNew(field: string): (before: string, after: string) => Meta {
  return (before, after) => ({ [`old_${field}`]: before, [`new_${field}`]: after });
}

function valueEvents(was: JsonObject, is: JsonObject): readonly AuditEvent[] {
  return Object.entries(valueActivities)
    .filter(([field]) => was[field] !== is[field])
    .map(([field, { code, meta }]) => ({ code, meta: meta(String(was[field] ?? ''), String(is[field] ?? '')) }));
}

/** IPv6 counts as enabled while any group has it. */
function ipv6Events(was: JsonObject, is: JsonObject): readonly AuditEvent[] {
  const enabled = (settings: JsonObject) => ({ on: !isEmpty(settings['ipv6_enabled_groups']) });
  return switchEvents({ on: 'account.setting.ipv6' }, enabled(was), enabled(is), {});
}

function logGroupEvents(was: readonly string[], is: readonly string[], state: State): readonly AuditEvent[] {
  const event = (code: ActivityCode) => (id: string) => ({
    code,
    meta: { group: state.get(id)?.name ?? '', group_id: id },
  });
  return [
    ...is.filter((id) => !was.includes(id)).map(event('account.settings.extra.flow.group.add')),
    ...was.filter((id) => !is.includes(id)).map(event('account.settings.extra.flow.group.remove')),
  ];
}

function sectionOf(settings: JsonObject, name: string): JsonObject {
  // Canonical specs contain the section with all its members.
  return asObject(settings[name] ?? {});
}

function logGroupsOf(extra: JsonObject): readonly string[] {
  const groups = extra['network_traffic_logs_groups'];
  return Array.isArray(groups) ? groups.map(String) : [];
}
