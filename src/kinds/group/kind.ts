import type { ActivityCode } from '../../model/declare/activities.ts';
import { type AuditEvent, defineKind, type State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import { type Provided, providedIndex, providedValues, removedEntry } from '../../model/declare/provided.ts';
import { list, maxLengths, members, string, typedRef } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { changedPeers, countPeers, isAll, isServerManaged, listedPeers } from '../shared/membership.ts';
import { createTakenCheck, findFreeAddress, hasIpv6, rangeOf, textsIn, withIpv6 } from '../shared/peer-addresses.ts';
import { peerFqdn } from '../shared/peer-fqdn.ts';
import { uniqueName } from '../shared/unique-name.ts';
import { checkTypes, deriveResourceChanges } from './resources.ts';
import { listAllPeers, refuseProvidedRename, resourcesOf } from './rules.ts';

const memberKinds = { peer: 'Peer', host: 'NetworkResource', subnet: 'NetworkResource', domain: 'NetworkResource' };

const spec = {
  name: string({
    doc: 'The name people see. Unique among the groups of the account.',
    maxLength: maxLengths.name,
    required: true,
    minLength: 1,
  }),
  peers: members('Peer', {
    doc: 'Peers that belong to the group. Peers added by enrolment, the API or an identity provider stay in it as well.',
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    Group: { fields: typeof spec; derived: GroupDerived };
  }
}

/** Data that the server keeps about a group in addition to the declared fields. */
interface GroupDerived {
  /** `api`, `jwt` for groups filled by a claim, or `integration`. */
  readonly issued: string;
  /** Ids of the proxy peers in the group of a cluster's proxies. */
  readonly proxies: readonly string[];
  /** Ids of resources, in the order in which a request last listed them. */
  readonly resource_order: readonly string[];
  /** Data of the identity provider about the group. Absent for other groups. */
  readonly provided: Provided;
}

export const group = defineKind({
  name: 'Group',
  doc: 'A set of peers and network resources. Policies, routes, zones and settings name groups instead of single machines.',
  path: '/api/groups',
  idParameter: 'groupId',
  module: 'groups',
  document: { allowed: true, shortName: 'hgrp' },
  scopedBy: 'groups',
  spec,
  inputs: {
    resources: list(
      typedRef(memberKinds, {
        doc: 'A network resource or a peer. A peer joins the group as if it were listed in `peers`.',
      }),
      {
        doc: 'Complete list of the network resources of the group; all others are removed from it. Documents set the groups in the resources instead.',
      },
    ),
  },
  checkInputs: checkTypes,
  computed: {
    issued: {
      doc: 'Origin of the group: `api` for groups made by people or documents, otherwise the identity provider.',
      schema: { type: 'string' },
      value: (object) => issuedOf(object),
    },
    peers_count: {
      doc: 'Number of peers in the group.',
      schema: { type: 'integer' },
      value: (object, state) => countPeers(object, state),
    },
    resources: {
      doc: 'Network resources that belong to the group.',
      schema: {
        type: 'array',
        items: {
          type: 'object',
          required: ['id', 'type'],
          properties: { id: { type: 'string' }, type: { type: 'string', enum: ['host', 'subnet', 'domain'] } },
        },
      },
      value: (object, state) => resourcesOf(object, state),
    },
    resources_count: {
      doc: 'Number of network resources that belong to the group.',
      schema: { type: 'integer' },
      value: (object, state) => state.countReferrers(object.id, 'NetworkResource', 'groups'),
    },
  },
  summary: ['id', 'name', 'peers_count', 'resources_count', 'issued'],
  filters: { name: { doc: 'Only the group with exactly this name.', matches: ({ name }, value) => name === value } },
  uniques: {
    name: {
      ...uniqueName('a group'),
      // Identity providers may add groups whose names are taken.
      value: (object) => (issuedOf(object) === 'api' ? (object.spec.name ?? '') : undefined),
    },
  },
  indexes: { [providedIndex]: ({ derived }) => providedValues(derived.provided) },
  entries: { [removedEntry]: ({ id, derived }) => (derived.provided?.removed_since === undefined ? undefined : id) },
  refuse(object, action) {
    if (!isServerManaged(object)) return undefined;
    const what = action === 'update' ? 'changed' : 'deleted';
    const holds = isAll(object) ? 'always contains every peer of the account' : 'contains the proxies of a cluster';
    return `the group ${object.name} ${holds} and cannot be ${what}; use a group of your own`;
  },
  checkMutation: refuseProvidedRename,
  derivedChanges: (step, state) => [...deriveResourceChanges(step, state), ...deriveIpv6Changes(step, state)],
  derivedChangesFrom: 'inputs',
  alsoFollows: hasIpv6Enabled,
  inUse: 'linked',
  namedByInvites: true,
  activity: { create: 'group.add', update: 'group.update', delete: 'group.delete' },
  createEvents: createdEvents,
  updateEvents: updatedEvents,
  respond: (body, object, state) => (isAll(object) ? { ...body, peers: listAllPeers(state) } : body),
  isSystem: isServerManaged,
  example: {
    name: 'Developers',
    peers: ['ana-laptop', 'build-server'],
  },
});

function issuedOf(object: Stored<'Group'>): string {
  return object.derived.issued ?? 'api';
}

/** Returns one event for each initial peer of a new group. */
function createdEvents(after: Stored<'Group'>, state: State): readonly AuditEvent[] {
  return listedPeers(after).map((peer) => memberEvent('peer.group.add', after, peer, state));
}

/** Returns an event for a rename, and one for each peer that joined or left. */
function updatedEvents(before: Stored<'Group'>, after: Stored<'Group'>, state: State): readonly AuditEvent[] {
  const { joined, left } = changedPeers(before, after);
  const renamed: AuditEvent = { code: 'group.update', meta: { old_name: before.name, new_name: after.name } };
  return [
    ...(before.name === after.name ? [] : [renamed]),
    ...joined.map((peer) => memberEvent('peer.group.add', after, peer, state)),
    ...left.map((peer) => memberEvent('peer.group.delete', after, peer, state)),
  ];
}

function memberEvent(code: ActivityCode, group: Stored<'Group'>, id: string, state: State): AuditEvent {
  const peer = state.find('Peer', id);
  const named = { group: group.name, group_id: group.id };
  if (peer === undefined) return { code, target: id, meta: named };
  return { code, target: id, meta: { ...named, peer_ip: peer.spec.ip ?? '', peer_fqdn: peerFqdn(peer, state) } };
}

/**
 * Assigns IPv6 addresses to peers that join a group with IPv6, and removes them from peers that left their last one.
 */
function deriveIpv6Changes({ before, after }: ObjectChange<Stored<'Group'>>, state: State): readonly DerivedChange[] {
  const [account] = state.ofKind('Account');
  const group = after ?? before;
  if (account === undefined || group === undefined || !hasIpv6Enabled(group, state)) return [];
  const range = rangeOf(account, 'ipv6');
  const taken = new Set<string>();
  const isTaken = createTakenCheck(state, 'ipv6');
  const { joined, left } = changedPeers(before, after);
  return [...joined, ...left].flatMap((id): readonly DerivedChange[] => {
    const peer = state.find('Peer', id);
    if (peer === undefined || range === undefined) return [];
    const has = (peer.spec.ipv6 ?? '') !== '';
    if (has === hasIpv6(account, id, state)) return [];
    const ipv6 = has ? '' : (findFreeAddress(range, id, (text) => taken.has(text) || isTaken(text)) ?? '');
    taken.add(ipv6);
    return [{ change: peer, spec: withIpv6(peer.spec, ipv6) }];
  });
}

/** Whether the account assigns IPv6 addresses to the peers of a group. */
function hasIpv6Enabled(group: Stored<'Group'>, state: State): boolean {
  const [account] = state.ofKind('Account');
  return account !== undefined && textsIn(account.spec.settings?.ipv6_enabled_groups).includes(group.id);
}
