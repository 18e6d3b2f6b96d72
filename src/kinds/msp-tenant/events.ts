import { equalJson } from '../../lib/json.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

/** What it means that a tenant goes from one status to another. */
const moves: Readonly<Record<string, string>> = {
  'pending active': 'msp.tenant.verify',
  'existing invited': 'msp.tenant.invite',
  'invited active': 'msp.tenant.accept',
  'invited existing': 'msp.tenant.decline',
};

/** Another name or other groups, another status, another price. */
export function updatedEvents(before: Stored<'MSPTenant'>, after: Stored<'MSPTenant'>): readonly AuditEvent[] {
  const meta = { name: after.name, domain: after.spec.domain ?? '' };
  const move = moves[`${before.derived.status} ${after.derived.status}`];
  const price = after.derived.price_id ?? '';
  return [
    ...(equalJson(before.spec, after.spec) ? [] : [{ code: 'msp.tenant.update', meta }]),
    ...(move === undefined ? [] : [{ code: move, meta }]),
    ...(before.derived.price_id === after.derived.price_id
      ? []
      : [{ code: 'msp.tenant.subscription', meta: { ...meta, price_id: price } }]),
  ];
}
