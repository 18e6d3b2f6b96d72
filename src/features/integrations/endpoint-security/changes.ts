import type { Engine } from '../../../commit/engine.ts';
import type { PresenceImage } from '../../../commit/presence.ts';
import type { VerdictUpdate } from '../../../db/endpoint-security/progress.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { platformOf } from './integrations.ts';

/** The actor of what products say. */
export const actor: Actor = { type: 'system', id: 'sys', name: 'system' };

/** Whose product said something, and in which state of the account. */
interface Source {
  readonly options: { readonly engine: Pick<Engine, 'registry' | 'now'> };
  readonly state: Snapshot;
  readonly object: StoredObject;
}

/**
 * The verdicts that differ from those before, each with its event: a peer is denied, or approved after it was denied. What
 * else is wrong with a denied peer than before is no event.
 */
export function verdictChanges(
  { options: { engine }, state, object }: Source,
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
    return [{ peer, verdict, entry: { actor, event: { code, target: peer, meta }, at } }];
  });
}

/** The end of verdicts on peers about whom the product decides no longer: were they to come back, they would be old. */
export function endedVerdicts(
  { object }: Pick<Source, 'object'>,
  { peers }: Pick<PresenceImage, 'peers'>,
  said: ReadonlyMap<string, string>,
): readonly VerdictUpdate[] {
  const left = [...peers].filter(([id, { verdicts }]) => !said.has(id) && verdicts?.[object.id] !== undefined);
  return left.map(([peer]) => ({ peer }));
}
