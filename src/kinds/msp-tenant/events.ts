import { equalJson } from '../../lib/json.ts';
import type { AuditEvent } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { derivedText, textOf } from '../shared/stored.ts';

/** What it means that a tenant goes from one status to another. */
const moves: Readonly<Record<string, string>> = {
  'pending active': 'msp.tenant.verify',
  'existing invited': 'msp.tenant.invite',
  'invited active': 'msp.tenant.accept',
  'invited existing': 'msp.tenant.decline',
};

/** Another name or other groups, another status, another price. */
export function updatedEvents(before: StoredObject, after: StoredObject): readonly AuditEvent[] {
  const meta = { name: after.name, domain: textOf(after, 'domain') };
  const move = moves[`${derivedText(before, 'status')} ${derivedText(after, 'status')}`];
  const price = derivedText(after, 'price_id') ?? '';
  return [
    ...(equalJson(before.spec, after.spec) ? [] : [{ code: 'msp.tenant.update', meta }]),
    ...(move === undefined ? [] : [{ code: move, meta }]),
    ...(derivedText(before, 'price_id') === derivedText(after, 'price_id')
      ? []
      : [{ code: 'msp.tenant.subscription', meta: { ...meta, price_id: price } }]),
  ];
}
