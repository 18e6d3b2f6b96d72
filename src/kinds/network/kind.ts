import { defineKind } from '../../model/declare/kind.ts';
import { longest, string } from '../../model/schema/field.ts';
import { countRoutingPeers, policiesTo } from './rules.ts';

const spec = {
  name: string({ doc: 'The name people see.', maxLength: longest.name, required: true, minLength: 1 }),
  description: string({ doc: 'What the network is.', default: '' }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    Network: { fields: typeof spec; derived: object };
  }
}

export const network = defineKind({
  name: 'Network',
  doc: 'A place outside the mesh, with the hosts, subnets and domains to be reached there (resources) and the peers that lead there (routers). Policies say who reaches a resource.',
  path: '/api/networks',
  idParameter: 'networkId',
  module: 'networks',
  document: { allowed: true, shortName: 'hnet' },
  spec,
  computed: {
    routing_peers_count: {
      doc: 'How many peers lead to the network, each counted once.',
      schema: { type: 'integer' },
      value: countRoutingPeers,
    },
    policies: {
      doc: 'The ids of enabled policies with an enabled rule whose destination is a resource of the network or a group of one.',
      schema: { type: 'array', items: { type: 'string' } },
      value: policiesTo,
    },
  },
  activity: { create: 'network.create', update: 'network.update', delete: 'network.delete' },
  example: {
    name: 'Office network',
    description: 'Printers, file server and lab machines in the office.',
  },
});
