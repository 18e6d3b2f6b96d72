import { equalJson } from '../../lib/json.ts';
import type { ActivityCode } from '../../model/declare/activities.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { eventsIf } from '../shared/events.ts';

/** What it means that a tenant goes from one status to another. */
const moves: Readonly<Record<string, ActivityCode>> = {
  'pending active': 'msp.tenant.verify',
  'existing invited': 'msp.tenant.invite',
  'invited active': 'msp.tenant.accept',
  'invited existing': 'msp.tenant.decline',
};

/** Another name or other groups, another status, another price. */
export function updatedEvents(before: Stored<'MSPTenant'>, after: Stored<'MSPTenant'>): readonly AuditEvent[] {
  const meta = { name: after.name, domain: after.spec.domain ?? '' };
  const move = moves[`${before.derived.status} ${after.derived.status}`];
  const isRepriced = before.derived.price_id !== after.derived.price_id;
  return [
    ...eventsIf(!equalJson(before.spec, after.spec), 'msp.tenant.update', meta),
    ...(move === undefined ? [] : [{ code: move, meta }]),
    ...eventsIf(isRepriced, 'msp.tenant.subscription', { ...meta, price_id: after.derived.price_id ?? '' }),
  ];
}
