import type { Match } from './match.ts';
import type { Integration } from './vendor.ts';

/** What a product says about a peer in one text: what is wrong, or nothing when all is in order. */
export function verdictOn(
  match: Match,
  { product, trustedHours }: Pick<Integration, 'product' | 'trustedHours'>,
  now: number,
): string {
  const faults =
    'reason' in match
      ? [match.reason]
      : [...staleFaults(match.device.seenAt, trustedHours, now), ...match.device.faults];
  return faults.length === 0 ? '' : `${product}: ${faults.join('; ')}`;
}

function staleFaults(seenAt: string | undefined, hours: number, now: number): readonly string[] {
  const at = Date.parse(seenAt ?? '');
  if (Number.isNaN(at)) return ['it is not known when the device was last seen'];
  if (now - at <= hours * 3_600_000) return [];
  return [`the device was last seen at ${new Date(at).toISOString()}, more than ${hours} hours ago`];
}

/** How many devices of those that were known a sync may lose without an approval. */
const mostLost = 0.2;

/** Whether a sync that found so many devices needs an approval; `known` is absent before the first one. */
export function needsApproval(found: number, known: number | undefined): boolean {
  return known === undefined ? found === 0 : found < known * (1 - mostLost);
}

/** What is said of such a sync. */
export function lossText(product: string, found: number, known: number | undefined): string {
  const advice = 'the verdicts before it stay; approve it if that is right';
  if (known === undefined) return `${product} knows no devices, so every peer would be kept out; ${advice}`;
  return `${product} knows ${found} devices, and knew ${known} before: more than 20 % are gone; ${advice}`;
}
