import { kindOf } from '../../../access/ruleset/object-readers.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { InvalidInput, NotFound } from '../../../model/errors.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { findEndpoint } from '../../../objects/find-endpoint.ts';
import { isAllowed } from '../../../plan/checks/authorize.ts';

/**
 * Returns the id of an endpoint. `text` may also name a person with exactly one peer, by e-mail address or name, if the
 * caller may read users. Throws `NotFound`, and `InvalidInput` when `text` is ambiguous or the person has no peer.
 */
export function findEndpointOrPerson(state: Snapshot, text: string, actor: Actor): string {
  try {
    return findEndpoint(state, text);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    const people = peopleCalled(state, text, actor);
    if (people.length === 0) throw error;
    return requireOnlyPeer(state, text, people);
  }
}

function peopleCalled(state: Snapshot, text: string, actor: Actor): readonly StoredObject[] {
  const { module } = state.registry.get('User');
  if (!isAllowed(state, actor, module, 'read')) return [];
  const asked = text.replace(/^User\//, '').toLowerCase();
  return state
    .ofKind('User')
    .filter(({ id, key, name, spec }) =>
      [id, key, name, spec.email].some((one) => typeof one === 'string' && one.toLowerCase() === asked),
    );
}

function requireOnlyPeer(state: Snapshot, text: string, people: readonly StoredObject[]): string {
  const ids = new Set(people.map(({ id }) => id));
  const [only, ...others] = state.ofKind(kindOf.peer).filter(({ spec }) => ids.has(spec.user_id ?? ''));
  if (only === undefined)
    throw new InvalidInput(`${text} is a person without a peer; name a group or a peer that represents the person`);
  if (others.length === 0) return only.id;
  const names = [only, ...others].map(({ kind, key, id }) => `${kind}/${key ?? `id:${id}`}`).join(', ');
  throw new InvalidInput(`${text} is a person with ${others.length + 1} peers; name one of ${names}`);
}
