import { equalJson } from '../../lib/json.ts';
import type { AuditEvent, Fault, State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import { derivedFromId } from '../../model/state/object.ts';
import type { Stored } from '../../model/state/stored.ts';
import { serviceMeta } from './answer.ts';

/** Whether the service was exposed by a peer. It exists for as long as the peer renews it. */
export function isExposed(service: Stored<'ProxyService'>): boolean {
  return derivedFromId(service) !== undefined;
}

/** Refuses changes of an exposed service: only its peer changes it. Users who may delete services can delete it. */
export function refuseExposedChange({ before, after }: Mutation<Stored<'ProxyService'>>): readonly Fault[] {
  if (before === undefined || after === undefined || !isExposed(before)) return [];
  if (equalJson(before.spec, after.spec)) return [];
  const message = `the service ${before.name} is exposed by a peer, and only that peer can change it; delete it, or make another service`;
  return [{ code: 'managed_field', path: '', message }];
}

/** Returns the event of a new service, created by a user or exposed by a peer. */
export function createdEvents(service: Stored<'ProxyService'>, state: State): readonly AuditEvent[] {
  return isExposed(service)
    ? [{ code: 'service.peer.expose', meta: exposedMeta(service, state) }]
    : [{ code: 'service.create', meta: serviceMeta(service, state) }];
}

/** Returns the event of an update. A peer that renews its exposed service causes none. */
export function updatedEvents(
  _before: Stored<'ProxyService'>,
  after: Stored<'ProxyService'>,
  state: State,
): readonly AuditEvent[] {
  return isExposed(after) ? [] : [{ code: 'service.update', meta: serviceMeta(after, state) }];
}

/** Returns the event of a deleted service: deleted, withdrawn by its peer, or not renewed in time. */
export function deletedEvents(service: Stored<'ProxyService'>, state: State): readonly AuditEvent[] {
  if (!isExposed(service)) return [{ code: 'service.delete', meta: serviceMeta(service, state) }];
  const code = service.derived.expired === true ? 'service.peer.expose.expire' : 'service.peer.unexpose';
  return [{ code, meta: exposedMeta(service, state) }];
}

function exposedMeta(service: Stored<'ProxyService'>, state: State): Readonly<Record<string, string>> {
  const peer = state.find('Peer', derivedFromId(service) ?? '');
  return {
    ...serviceMeta(service, state),
    source: 'ephemeral',
    ...(peer === undefined ? {} : { peer_name: peer.name, peer_ip: peer.spec.ip ?? '' }),
  };
}
