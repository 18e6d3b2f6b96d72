import { decidesAbout, peersDecidedBy } from '../../../access/ruleset/verdicts.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { PresenceImage } from '../../../commit/presence.ts';
import type { VerdictUpdate } from '../../../db/endpoint-security/progress.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { State } from '../../../model/declare/kind.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { platformOf } from './integrations.ts';
import type { Machine, Match } from './match.ts';
import type { Integration } from './vendor.ts';

/**
 * Returns the machines about which an integration decides, in the order of their peer ids. With `among`, only these
 * peers are considered.
 */
export function machinesOf(
  state: State,
  { peers }: Pick<PresenceImage, 'peers'>,
  integration: string,
  among?: readonly string[],
): readonly Machine[] {
  const ids = among?.filter((peer) => decidesAbout(state, integration, peer)) ?? peersDecidedBy(state, integration);
  return [...new Set(ids)].sort().flatMap((id) => {
    const peer = state.find('Peer', id);
    if (peer === undefined || peer.derived.temporary === true) return [];
    const serial = peers.get(id)?.facts['serial_number'];
    return [{ peer: id, serial: typeof serial === 'string' ? serial : '', hostname: peer.spec.hostname ?? '' }];
  });
}

/** Returns the verdict of a product on a peer as one text: its faults, or an empty text when the device is in order. */
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

/** Maximum share of the known devices that a sync may lose without an approval. */
const maxLostShare = 0.2;

/** Whether a sync that found this number of devices needs an approval. `known` is absent before the first sync. */
export function needsApproval(found: number, known: number | undefined): boolean {
  return known === undefined ? found === 0 : found < known * (1 - maxLostShare);
}

/** Returns the message about a sync that needs an approval. */
export function describeLoss(product: string, found: number, known: number | undefined): string {
  const advice = 'the earlier verdicts stay in effect; approve the sync if this is right';
  if (known === undefined) return `${product} knows no devices, so every peer would be kept out; ${advice}`;
  return `${product} knows ${found} devices, and knew ${known} before: more than 20 % are gone; ${advice}`;
}

/** Actor of the events that products cause. */
export const systemActor: Actor = { type: 'system', id: 'sys', name: 'system' };

/** The integration whose product was queried, and the state of the account. */
interface QueriedIntegration {
  readonly options: { readonly engine: Pick<Engine, 'registry' | 'now'> };
  readonly state: Snapshot;
  readonly object: StoredObject;
}

/**
 * Returns the verdicts that changed. A peer that is denied, or approved after it was denied, gets an event. A change in
 * the faults of a denied peer is written without an event.
 */
export function verdictChanges(
  { options: { engine }, state, object }: QueriedIntegration,
  { peers }: Pick<PresenceImage, 'peers'>,
  said: ReadonlyMap<string, string>,
): readonly VerdictUpdate[] {
  const kind = engine.registry.get('Peer');
  const at = engine.now();
  return [...said].flatMap(([peer, verdict]): readonly VerdictUpdate[] => {
    const before = peers.get(peer)?.verdicts?.[object.id];
    if (before === verdict) return [];
    const subject = state.get(peer);
    const isDenied = verdict !== '';
    if (subject === undefined || isDenied === ((before ?? '') !== '')) return [{ peer, verdict }];
    const meta = {
      ...(kind.activityMeta?.(subject, state) ?? {}),
      ...{ platform: platformOf(object.kind), ...(isDenied ? { reason: verdict } : {}) },
    };
    const code = `integrated-validator.host-check.${isDenied ? 'denied' : 'approved'}` as const;
    return [{ peer, verdict, entry: { actor: systemActor, event: { code, target: peer, meta }, at } }];
  });
}

/**
 * Returns the removals of verdicts on peers about which the product no longer decides. If such a peer came back, its
 * verdict would be old.
 */
export function endedVerdicts(
  { object }: Pick<QueriedIntegration, 'object'>,
  { peers }: Pick<PresenceImage, 'peers'>,
  said: ReadonlyMap<string, string>,
): readonly VerdictUpdate[] {
  const left = [...peers].filter(([id, { verdicts }]) => !said.has(id) && verdicts?.[object.id] !== undefined);
  return left.map(([peer]) => ({ peer }));
}
