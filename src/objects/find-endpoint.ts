import { kindOf } from '../access/ruleset/object-readers.ts';
import { InvalidInput, NotFound } from '../model/errors.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import { nearestEndpointsAt } from './endpoints-at.ts';
import { findObjectOfKinds } from './find-object.ts';

const endKinds = [kindOf.peer, kindOf.group, kindOf.resource, kindOf.route];

/**
 * Returns the id of the endpoint that a query about access names. It is a peer, a group, a network resource or a route,
 * named by key, name or id (also with the kind in front), or by an address or host name that leads there. Throws
 * `NotFound`, and `InvalidInput` when the text fits several endpoints.
 */
export function findEndpoint(state: Snapshot, text: string): string {
  try {
    return findObjectOfKinds(state, text, endKinds).id;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    return findByAddress(state, text) ?? raise(error);
  }
}

/** Like `findEndpoint`, in the first of several states that contains the endpoint. */
export function findEndpointAmong(states: readonly Snapshot[], text: string): string {
  let missing: NotFound | undefined;
  for (const state of states) {
    try {
      return findEndpoint(state, text);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      missing ??= error;
    }
  }
  throw missing ?? new NotFound(`nothing is called ${text}`);
}

function findByAddress(state: Snapshot, text: string): string | undefined {
  const found = nearestEndpointsAt(state, text);
  if (found.length < 2) return found[0];
  const names = found.flatMap((id) => state.get(id) ?? []).map(({ kind, key, id }) => `${kind}/${key ?? `id:${id}`}`);
  throw new InvalidInput(`${text} is reached through ${found.length} objects; name one of ${names.join(', ')}`);
}

function raise(error: Error): never {
  throw error;
}
