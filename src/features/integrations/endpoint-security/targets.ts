import { decidedBy, decidesAbout } from '../../../access/ruleset/verdicts.ts';
import type { PresenceImage } from '../../../commit/presence.ts';
import type { State } from '../../../model/declare/kind.ts';
import type { Machine } from './match.ts';

/** The machines about which an integration decides, in the order of their ids; among some peers alone when they are given. */
export function machinesOf(
  state: State,
  { peers }: Pick<PresenceImage, 'peers'>,
  integration: string,
  among?: readonly string[],
): readonly Machine[] {
  const ids = among?.filter((peer) => decidesAbout(state, integration, peer)) ?? decidedBy(state, integration);
  return [...new Set(ids)].sort().flatMap((id) => {
    const peer = state.find('Peer', id);
    if (peer === undefined || peer.derived.temporary === true) return [];
    const serial = peers.get(id)?.facts['serial_number'];
    return [{ peer: id, serial: typeof serial === 'string' ? serial : '', hostname: peer.spec.hostname ?? '' }];
  });
}
