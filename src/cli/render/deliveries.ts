import { printable } from '../../lib/text/printable.ts';
import type { Delivery } from '../../operations/config/deliveries.ts';
import { cell } from '../terminal/cell.ts';
import type { Paint } from '../terminal/paint.ts';
import { renderTable } from '../terminal/table.ts';

const headings = ['CHANNEL', 'TYPE', 'STATE', 'WAITING', 'SET ASIDE', 'LAST SUCCESS'];

/** Returns the lines of a table of deliveries. Below each row, the problem of the delivery, if there is one. */
export function renderDeliveryTable(deliveries: readonly Delivery[], paint: Paint): readonly string[] {
  if (deliveries.length === 0) return ['No channels that receive events.'];
  const rows = deliveries.map((delivery) => {
    const { key, id, type, state, message, lag, setAsideCount, lastSuccessAt } = delivery;
    const cells = [key ?? id, type, state, lag.events, setAsideCount, lastSuccessAt].map(cell);
    return { cells, below: hasProblem(delivery) ? [paint('warning', printable(message))] : [] };
  });
  return renderTable(headings, rows, paint);
}

function hasProblem({ state, setAsideCount }: Delivery): boolean {
  return state === 'paused' || state === 'retrying' || setAsideCount > 0;
}

/** Returns the lines with all details of one delivery. */
export function renderDelivery(delivery: Delivery, paint: Paint): readonly string[] {
  const { key, id, kind, type, state, message, lag, cursor, setAside, setAsideCount } = delivery;
  const facts: readonly (readonly [string, unknown])[] = [
    ['channel', `${key === undefined ? '' : `${cell(key)}, `}${cell(kind)} ${cell(id)} (${cell(type)})`],
    ['state', `${cell(state)}: ${printable(message)}`],
    [
      'waiting',
      lag.events === 0
        ? 'nothing'
        : `${lag.events} ${lag.events === 1 ? 'event' : 'events'}, the oldest for ${lag.seconds} s`,
    ],
    ['processed up to', `event ${cursor}`],
    ['last success', delivery.lastSuccessAt],
    [
      'last error',
      delivery.lastError === undefined ? undefined : `${printable(delivery.lastError)} (${cell(delivery.lastErrorAt)})`,
    ],
    ['next attempt', delivery.nextAttemptAt],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  const aside = setAside.map(({ feed, event, activity_code: code, reason, at, retrying }) => ({
    cells: [
      feed === 'audit' ? event : `${feed}-${event}`,
      code,
      at,
      retrying ? 'being resent' : 'set aside',
      reason,
    ].map(cell),
  }));
  const more = setAsideCount - setAside.length;
  return [
    ...known.map(([name, value]) => `${paint('faint', name.padEnd(width))}  ${String(value)}`),
    ...(aside.length === 0
      ? []
      : ['', ...renderTable(['EVENT', 'ACTIVITY', 'SINCE', 'STATE', 'REASON'], aside, paint)]),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}
