import { testAccess } from '../../../access/explain/test-access.ts';
import type { AccessImage } from '../../../access/ruleset/access.ts';
import { kindOf } from '../../../access/ruleset/object-readers.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { HeddleError } from '../../../model/errors.ts';
import type { GuardLimits } from '../../../model/sources/settings.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { Stored } from '../../../model/state/stored.ts';
import { endpointsAt } from '../../../objects/endpoints-at.ts';
import { findEndpoint } from '../../../objects/find-endpoint.ts';
import type { TrippedGuard } from '../../../plan/plan.ts';

/** Maximum number of peers that a message names. */
const maxNames = 3;

/**
 * Actors who apply the plan or made it, and the host and port at which people reach the management service, if they are
 * known.
 */
export interface Applier {
  readonly actors: readonly Actor[];
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * Returns the guard that trips when a plan takes away the applier's last access to the management service. The service
 * is the address that the source's limits name, otherwise any object with the public address of the server.
 */
export function ownAccessGuard(
  { before, after }: { readonly before: AccessImage; readonly after: AccessImage },
  [was, is]: readonly [Snapshot, Snapshot],
  { lostOwnAccess }: Pick<GuardLimits, 'lostOwnAccess'>,
  { actors, host, port }: Applier,
): readonly TrippedGuard[] {
  const target = lostOwnAccess ?? host;
  if (target === undefined) return [];
  const ends = lostOwnAccess === undefined ? endpointsAt(was, target) : findTarget(was, target);
  if (ends.length === 0) return [];
  // The service speaks HTTP, so access by ping alone does not count.
  const ports = lostOwnAccess === undefined && port !== undefined ? [{ start: port, end: port }] : [];
  const own = new Set(actors.flatMap((actor) => ownPeers(was, actor)));
  const lost = [...own].filter(({ id: from }) => {
    const reached = (image: AccessImage, to: string) =>
      testAccess(image, { from, to, protocol: 'tcp', ports }).verdict !== 'deny';
    const isLeft = (to: string) => is.get(from) !== undefined && is.get(to) !== undefined && reached(after, to);
    return ends.some((to) => reached(before, to)) && !ends.some(isLeft);
  });
  if (lost.length === 0) return [];
  const names = lost.slice(0, maxNames).map(({ key, name }) => key ?? name);
  const more = lost.length > names.length ? ` and ${lost.length - names.length} more` : '';
  const message = `removes the last access of ${names.join(', ')}${more} to ${target}, through which this service is managed`;
  return [{ guard: 'own_access', message }];
}

/** Returns the endpoint that the setting names; an empty list when it does not exist. */
function findTarget(state: Snapshot, target: string): readonly string[] {
  try {
    return [findEndpoint(state, target)];
  } catch (error) {
    if (error instanceof HeddleError) return [];
    throw error;
  }
}

const managers = ['owner', 'admin'];

/**
 * Returns the peers of the caller. Returns the peers of every owner and admin when the caller is not a user or has no
 * peers.
 */
function ownPeers(state: Snapshot, actor: Actor): readonly Stored<'Peer'>[] {
  const peers = state.ofKind(kindOf.peer).filter(({ spec }) => spec.user_id !== undefined);
  const own = actor.type === 'user' ? peers.filter(({ spec }) => spec.user_id === actor.id) : [];
  if (own.length > 0) return own;
  return peers.filter(({ spec }) => managers.includes(state.find('User', spec.user_id ?? '')?.spec.role ?? ''));
}
