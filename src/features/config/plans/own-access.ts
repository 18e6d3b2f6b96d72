import { testAccess } from '../../../access/explain/test-access.ts';
import type { Access } from '../../../access/ruleset/access.ts';
import { kindOf } from '../../../access/ruleset/object-readers.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { HeddleError } from '../../../model/errors.ts';
import type { GuardLimits } from '../../../model/sources/settings.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { endpointsAt } from '../../../objects/endpoints-at.ts';
import { findEndpoint } from '../../../objects/find-endpoint.ts';
import type { TrippedGuard } from '../../../plan/plan.ts';

/** How many peers a message names. */
const mostNames = 3;

/** Who applies a plan or made it, and by which name or address and port people reach the service, where that is known. */
export interface Applier {
  readonly actors: readonly Actor[];
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * The guard on the caller's last access to the management service: by the address that the source states, else by any
 * object with the address that people were given.
 */
export function ownAccessGuard(
  { before, after }: { readonly before: Access; readonly after: Access },
  [was, is]: readonly [Snapshot, Snapshot],
  { lostOwnAccess }: Pick<GuardLimits, 'lostOwnAccess'>,
  { actors, host, port }: Applier,
): readonly TrippedGuard[] {
  const target = lostOwnAccess ?? host;
  if (target === undefined) return [];
  const ends = lostOwnAccess === undefined ? endpointsAt(was, target) : endOf(was, target);
  if (ends.length === 0) return [];
  // The service speaks HTTP: a ping does not help to manage anything.
  const ports = lostOwnAccess === undefined && port !== undefined ? [{ start: port, end: port }] : [];
  const own = new Set(actors.flatMap((actor) => ownPeers(was, actor)));
  const lost = [...own].filter(({ id: from }) => {
    const reached = (image: Access, to: string) =>
      testAccess(image, { from, to, protocol: 'tcp', ports }).verdict !== 'deny';
    const isLeft = (to: string) => is.get(from) !== undefined && is.get(to) !== undefined && reached(after, to);
    return ends.some((to) => reached(before, to)) && !ends.some(isLeft);
  });
  if (lost.length === 0) return [];
  const names = lost.slice(0, mostNames).map(({ key, name }) => key ?? name);
  const more = lost.length > names.length ? ` and ${lost.length - names.length} more` : '';
  const message = `takes from ${names.join(', ')}${more} the last way to ${target}, by which this service is managed`;
  return [{ guard: 'own_access', message }];
}

/** The endpoint that the setting names, if it exists. */
function endOf(state: Snapshot, target: string): readonly string[] {
  try {
    return [findEndpoint(state, target)];
  } catch (error) {
    if (error instanceof HeddleError) return [];
    throw error;
  }
}

const managers = ['owner', 'admin'];

/** The peers of the caller; of every owner and admin when a server applies by itself, or the caller has none. */
function ownPeers(state: Snapshot, actor: Actor): readonly Stored<'Peer'>[] {
  const peers = state.ofKind(kindOf.peer).filter(({ spec }) => spec.user_id !== undefined);
  const own = actor.type === 'user' ? peers.filter(({ spec }) => spec.user_id === actor.id) : [];
  if (own.length > 0) return own;
  return peers.filter(({ spec }) => managers.includes(state.find('User', spec.user_id ?? '')?.spec.role ?? ''));
}
