import { defineKind } from '../../model/declare/kind.ts';
import { list, longest, members, string, typedRef } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { countPeers, isAll, isKept } from '../shared/membership.ts';
import { uniqueName } from '../shared/unique-name.ts';
import { createdEvents, updatedEvents } from './events.ts';
import { followIpv6, hasIpv6Enabled } from './ipv6.ts';
import { checkTypes, placeResources } from './resources.ts';
import { keepProvidedName, listAllPeers, resourcesOf } from './rules.ts';

const item = (member: string) => ({
  type: 'object',
  properties: { id: { type: 'string' }, [member]: { type: 'string' } },
});

const memberKinds = { peer: 'Peer', host: 'NetworkResource', subnet: 'NetworkResource', domain: 'NetworkResource' };

const spec = {
  name: string({
    doc: 'The name people see. No two groups of an account share one.',
    maxLength: longest.name,
    required: true,
    minLength: 1,
  }),
  peers: members('Peer', {
    doc: 'Peers that belong to the group. Peers that enrolment, the API or an identity provider put there stay beside them.',
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    Group: { fields: typeof spec; derived: GroupDerived };
  }
}

/** What the server knows about a group beside the declared fields. */
interface GroupDerived {
  /** `api`, `jwt` for groups of a claim, or `integration`. */
  readonly issued: string;
  /** The peers of the proxies of a cluster, in the group of these. */
  readonly proxies: readonly string[];
  /** Ids of resources in the order in which the group was given them last. */
  readonly resource_order: readonly string[];
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
      typedRef(memberKinds, { doc: 'A network resource, or a peer, which joins the group as if it stood in `peers`.' }),
      { doc: 'Network resources that belong to the group, exactly these. Documents say it in the resources.' },
    ),
  },
  checkInputs: checkTypes,
  computed: {
    issued: {
      doc: 'Where the group comes from: `api` for groups made by people and documents, else the identity provider.',
      schema: { type: 'string' },
      value: (object) => issuedOf(object),
    },
    peers_count: {
      doc: 'How many peers are in the group.',
      schema: { type: 'integer' },
      value: (object, state) => countPeers(object, state),
    },
    resources: {
      doc: 'Network resources that belong to the group.',
      schema: { type: 'array', items: item('type') },
      value: (object, state) => resourcesOf(object, state),
    },
    resources_count: {
      doc: 'How many network resources belong to the group.',
      schema: { type: 'integer' },
      value: (object, state) => state.countReferrers(object.id, 'NetworkResource', 'groups'),
    },
  },
  summary: ['id', 'name', 'peers_count', 'resources_count', 'issued'],
  filters: { name: { doc: 'Only the group of exactly this name.', matches: ({ name }, value) => name === value } },
  uniques: {
    name: {
      ...uniqueName('a group'),
      // Identity providers may bring groups whose names are taken.
      value: (object) => (issuedOf(object) === 'api' ? (object.spec.name ?? '') : undefined),
    },
  },
  refuse(object, action) {
    if (!isKept(object)) return undefined;
    const what = action === 'update' ? 'changed' : 'deleted';
    const holds = isAll(object) ? 'always holds every peer of the account' : 'holds the proxies of a cluster';
    return `the group ${object.name} ${holds} and cannot be ${what}; use a group of your own`;
  },
  checkMutation: keepProvidedName,
  derivedChanges: (step, state) => [...placeResources(step, state), ...followIpv6(step, state)],
  derivedChangesFrom: 'inputs',
  alsoFollows: hasIpv6Enabled,
  inUse: 'linked',
  namedByInvites: true,
  activity: { create: 'group.add', update: 'group.update', delete: 'group.delete' },
  createEvents: createdEvents,
  updateEvents: updatedEvents,
  respond: (body, object, state) => (isAll(object) ? { ...body, peers: listAllPeers(state) } : body),
  isSystem: isKept,
  example: {
    name: 'Developers',
    peers: ['ana-laptop', 'build-server'],
  },
});

function issuedOf(object: Stored<'Group'>): string {
  return object.derived.issued ?? 'api';
}
