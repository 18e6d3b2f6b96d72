import { equalJson } from '../../lib/json.ts';
import type { ActivityCode } from '../../model/declare/activities.ts';
import { type AuditEvent, defineKind, type Fault, type State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import { actsAsOwner, ownerGroups } from '../../model/declare/owner-groups.ts';
import { type TenantStatus, tenantStatuses } from '../../model/declare/tenant-words.ts';
import { keyed, maxEntries, maxLengths, oneOf, ref, string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { eventsIf } from '../shared/events.ts';
import { domain } from '../shared/formats.ts';

/** Activity code of each change of a tenant's status (`before after`). */
const statusActivities: Readonly<Record<string, ActivityCode>> = {
  'pending active': 'msp.tenant.verify',
  'existing invited': 'msp.tenant.invite',
  'invited active': 'msp.tenant.accept',
  'invited existing': 'msp.tenant.decline',
};

/** Returns events for a changed spec, status or price. */
function updatedEvents(before: Stored<'MSPTenant'>, after: Stored<'MSPTenant'>): readonly AuditEvent[] {
  const meta = { name: after.name, domain: after.spec.domain ?? '' };
  const move = statusActivities[`${before.derived.status} ${after.derived.status}`];
  const isRepriced = before.derived.price_id !== after.derived.price_id;
  return [
    ...eventsIf(!equalJson(before.spec, after.spec), 'msp.tenant.update', meta),
    ...(move === undefined ? [] : [{ code: move, meta }]),
    ...eventsIf(isRepriced, 'msp.tenant.subscription', { ...meta, price_id: after.derived.price_id ?? '' }),
  ];
}

const timeMember = (name: string, doc: string) => ({
  doc,
  schema: { type: 'string', format: 'date-time' },
  optional: true as const,
  value: (object: Stored<'MSPTenant'>) => object.derived[name],
});

const spec = {
  name: string({ doc: 'The name people see.', maxLength: maxLengths.name, required: true, minLength: 1 }),
  domain: string({
    doc: 'The e-mail domain of the tenant.',
    access: 'createOnly',
    required: true,
    minLength: 1,
    format: domain,
  }),
  groups: keyed(
    {
      id: ref('Group', {
        doc: 'A group of this account. Its users are those with the group in their auto groups.',
        required: true,
      }),
      role: oneOf(['owner', 'admin', 'user', 'network_admin', 'auditor', 'billing_admin'], {
        doc: 'Role of these users in the account of the tenant.',
        required: true,
      }),
    },
    {
      doc: 'Groups of users that may act in the account of the tenant, with their roles there.',
      key: 'id',
      maxItems: maxEntries,
      required: true,
      documentDefault: [],
    },
  ),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    MSPTenant: { fields: typeof spec; derived: MSPTenantDerived };
  }
}

/** Data that the server keeps about a tenant in addition to the declared fields. */
interface MSPTenantDerived {
  readonly status: TenantStatus;
  readonly dns_challenge: string;
  readonly price_id: string;
}

export const mspTenant = defineKind({
  name: 'MSPTenant',
  doc: 'Another account that this one manages. Its id is the id of that account; documents are named after its domain.',
  path: '/api/integrations/msp/tenants',
  // Creating a tenant may create an account, so it has a separate operation. So has every change of status.
  verbs: ['list', 'replace'],
  module: 'msp',
  document: { allowed: true, shortName: 'hmsp', creates: false },
  spec,
  computed: {
    status: {
      doc: '`pending` until the domain is proved, `existing` when the domain has an account already, `invited` until that account answers the invitation, or `active`.',
      schema: { type: 'string', enum: tenantStatuses },
      value: (object) => object.derived.status ?? 'pending',
    },
    dns_challenge: {
      doc: 'The text of the TXT record `_heddle-challenge.<domain>` that proves the domain.',
      schema: { type: 'string' },
      value: (object) => object.derived.dns_challenge ?? '',
    },
    activated_at: timeMember('activated_at', 'When the tenant became active; absent until then.'),
    invited_at: timeMember('invited_at', 'When the account of the tenant was last invited; absent until then.'),
    created_at: {
      doc: 'When the tenant was made.',
      schema: { type: 'string', format: 'date-time' },
      value: ({ createdAt }) => createdAt,
    },
    updated_at: {
      doc: 'When the tenant last changed.',
      schema: { type: 'string', format: 'date-time' },
      value: ({ updatedAt }) => updatedAt,
    },
  },
  uniques: {
    domain: {
      path: '/domain',
      value: (object) => object.spec.domain ?? '',
      message: (value) => `a tenant with the domain \`${value}\` already exists; change that one`,
    },
  },
  checkMutation,
  generate: (_, { random }) => ({ derived: { dns_challenge: `heddle-challenge=${hex(random(20))}` } }),
  activity: { create: 'msp.tenant.create', delete: 'msp.tenant.unlink' },
  activityMeta: (object) => ({ name: object.name, domain: object.spec.domain ?? '' }),
  updateEvents: updatedEvents,
  example: {
    name: 'acme.example.com',
    domain: 'acme.example.com',
    groups: [{ id: 'developers', role: 'admin' }],
  },
});

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Only owners of this account may make a group owners of a tenant: no user can grant more rights than they have. */
function checkMutation({ before, after, actor }: Mutation<Stored<'MSPTenant'>>, was: State): readonly Fault[] {
  if (after === undefined || actor === undefined || actsAsOwner(was, actor)) return [];
  const known = ownerGroups(before);
  if (ownerGroups(after).every((id) => known.includes(id))) return [];
  const message =
    'only an owner can give a group the role `owner` in a tenant; give it the role `admin`, or ask an owner';
  return [{ code: 'not_allowed', path: '/groups', message }];
}
