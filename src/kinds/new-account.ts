import type { JsonObject } from '../lib/json.ts';
import type { Kind } from '../model/declare/kind.ts';
import { canonicalSpec } from '../model/schema/normalize.ts';
import { account } from './account/kind.ts';
import { group } from './group/kind.ts';
import { policy } from './policy/kind.ts';
import { user } from './user/kind.ts';

/** Owner of a new account: a person with an e-mail address or an identity provider, otherwise the machine owner. */
export interface Founder {
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  /** Id of the identity provider that the person signs in with. */
  readonly idp?: string;
}

/** Inputs for a new account. */
export interface NewAccountInputs {
  readonly accountId: string;
  /** ISO 8601, UTC. */
  readonly now: string;
  readonly newId: () => string;
  readonly networkRange: string;
  readonly networkRangeV6: string;
  /** E-mail domain of the organisation. Empty when there is none. */
  readonly domain: string;
  /** Domain of peers that this installation was started with. Absent when none was set. */
  readonly peerDnsDomain?: string;
  readonly owner: Founder;
}

/** Object that is not stored yet. */
export interface NewObject {
  readonly id: string;
  readonly kind: string;
  readonly key?: string;
  readonly spec: JsonObject;
  readonly derived: JsonObject;
}

/**
 * Returns the initial objects of an account: itself, the group `All`, a policy that connects all peers, and an owner.
 */
export function buildAccountObjects(inputs: NewAccountInputs): readonly NewObject[] {
  const all = inputs.newId();
  return [accountObject(inputs, all), allGroup(all), defaultPolicy(inputs.newId(), all), ownerUser(inputs)];
}

function accountObject(inputs: NewAccountInputs, all: string): NewObject {
  const { accountId, domain, peerDnsDomain } = inputs;
  const settings = {
    network_range: inputs.networkRange,
    network_range_v6: inputs.networkRangeV6,
    ipv6_enabled_groups: [all],
  };
  const derived = {
    domain,
    domain_category: domain === '' ? '' : 'private',
    created_by: inputs.owner.id,
    created_at: inputs.now,
    ...(peerDnsDomain === undefined ? {} : { peer_dns_domain: peerDnsDomain }),
  };
  return { ...build(account, accountId, { settings }, derived), key: 'account' };
}

function allGroup(id: string): NewObject {
  return build(group, id, { name: 'All', peers: {} }, { issued: 'api', system: 'all' });
}

/** Returns the default policy. The first rule of a policy has the id of the policy. */
function defaultPolicy(id: string, all: string): NewObject {
  const rule = {
    name: 'Default',
    description: 'Every peer reaches every other one.',
    enabled: true,
    action: 'accept',
    bidirectional: true,
    protocol: 'all',
    sources: [all],
    destinations: [all],
  };
  const spec = { name: 'Default', description: 'Lets all peers reach each other.', enabled: true, rules: [rule] };
  return build(policy, id, spec, { entry_ids: { rules: { Default: id } } });
}

function ownerUser({ owner }: NewAccountInputs): NewObject {
  const { id, name, email = '', idp } = owner;
  const spec = { name, email, role: 'owner', auto_groups: [], is_service_user: false };
  const isPerson = email !== '' || idp !== undefined;
  const origin = { ...(isPerson ? {} : { system: 'owner' }), ...(idp === undefined ? {} : { idp_id: idp }) };
  return build(user, id, spec, { issued: 'api', status: 'active', ...origin });
}

function build(kind: Kind, id: string, spec: JsonObject, derived: JsonObject): NewObject {
  return { id, kind: kind.name, spec: canonicalSpec(kind, spec).spec, derived };
}
