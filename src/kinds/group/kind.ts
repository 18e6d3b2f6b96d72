import { members, string } from '../../model/field.ts';
import { defineKind } from '../../model/kind.ts';
import { countPeers, isAll } from '../shared/membership.ts';
import { derivedText, textOf } from '../shared/stored.ts';
import { createdEvents, updatedEvents } from './events.ts';
import { listAllPeers, resourcesOf } from './rules.ts';

const item = (member: string) => ({
  type: 'object',
  properties: { id: { type: 'string' }, [member]: { type: 'string' } },
});

export const group = defineKind({
  name: 'Group',
  doc: 'A set of peers and network resources. Policies, routes, zones and settings name groups instead of single machines.',
  path: '/api/groups',
  idParameter: 'groupId',
  module: 'groups',
  document: { allowed: true },
  spec: {
    name: string({ doc: 'The name people see. No two groups of an account share one.', required: true, minLength: 1 }),
    peers: members('Peer', {
      doc: 'Peers that belong to the group. Peers that enrolment, the API or an identity provider put there stay beside them.',
    }),
  },
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
      path: '/name',
      // Identity providers may bring groups whose names are taken.
      value: (object) => (issuedOf(object) === 'api' ? textOf(object, 'name') : undefined),
      message: (name) => `a group with the name \`${name}\` already exists; choose another name`,
    },
  },
  refuse(object, action) {
    if (!isAll(object)) return undefined;
    const what = action === 'update' ? 'changed' : 'deleted';
    return `the group ${object.name} always holds every peer of the account and cannot be ${what}; use a group of your own`;
  },
  inUse: 'linked',
  activity: { create: 'group.add', update: 'group.update', delete: 'group.delete' },
  createEvents: createdEvents,
  updateEvents: updatedEvents,
  respond: (body, object, state) => (isAll(object) ? { ...body, peers: listAllPeers(state) } : body),
  isSystem: isAll,
  example: {
    name: 'Developers',
    peers: ['ana-laptop', 'build-server'],
  },
});

function issuedOf(object: Parameters<typeof isAll>[0]): string {
  return derivedText(object, 'issued') ?? 'api';
}
