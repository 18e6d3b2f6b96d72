import { printable } from '../../lib/text/printable.ts';
import type { EndpointSecurity } from '../../operations/config/endpoint-security.ts';
import { cell } from '../terminal/cell.ts';
import type { Paint } from '../terminal/paint.ts';
import { renderTable } from '../terminal/table.ts';

const headings = ['VENDOR', 'NAME', 'STATE', 'DEVICES', 'APPROVED', 'DENIED', 'LAST SYNC'];

/**
 * Returns the lines of a table of endpoint-security integrations. Below each row, the problem of the integration, if
 * there is one.
 */
export function renderEndpointSecurity(found: readonly EndpointSecurity[], paint: Paint): readonly string[] {
  if (found.length === 0) return ['No integrations with endpoint security.'];
  const rows = found.map(({ vendor, key, state, message, devices, peers, lastSyncedAt }) => ({
    cells: [vendor, key, state, devices, peers.approved, peers.denied, lastSyncedAt].map(cell),
    below: hasProblem(state) ? [paint('warning', printable(message))] : [],
  }));
  return renderTable(headings, rows, paint);
}

function hasProblem(state: EndpointSecurity['state']): boolean {
  return state === 'failing' || state === 'held' || state === 'untrusted';
}
