import { type AuditEvent, defineKind, type State } from '../../model/declare/kind.ts';
import { refs } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { autoGroupEvents } from '../shared/auto-groups.ts';

const noGroups: readonly string[] = [];

const spec = {
  disabled_management_groups: refs('Group', {
    doc: 'Groups whose peers keep the DNS configuration of their machine.',
    required: true,
    documentDefault: [],
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    DNSSettings: { fields: typeof spec; derived: object };
  }
}

export const dnsSettings = defineKind({
  name: 'DNSSettings',
  doc: 'Which peers keep the DNS configuration of their machine. There is one such object, so its document is called `dns-settings`.',
  path: '/api/dns/settings',
  single: true,
  alwaysExists: true,
  singleton: 'dns-settings',
  verbs: ['read', 'replace'],
  module: 'dns',
  document: { allowed: true, shortName: 'hdns' },
  spec,
  createEvents: (after, state) => groupEvents(noGroups, disabledGroupsOf(after), state),
  updateEvents: (before, after, state) => groupEvents(disabledGroupsOf(before), disabledGroupsOf(after), state),
  deleteEvents: (before, state) => groupEvents(disabledGroupsOf(before), noGroups, state),
  example: { disabled_management_groups: ['office-gateways'] },
});

function disabledGroupsOf(settings: Stored<'DNSSettings'>): readonly string[] {
  return settings.spec.disabled_management_groups ?? [];
}

/** The events have the account as their target. */
function groupEvents(was: readonly string[], is: readonly string[], state: State): readonly AuditEvent[] {
  const events = autoGroupEvents('dns.setting.disabled.management.group', was, is, state, {});
  return events.map((event) => ({ ...event, target: state.account }));
}
