import { parseAddress } from '../../lib/net/address.ts';
import { defineKind } from '../../model/declare/kind.ts';
import { boolean, maxLengths, ref, refs, string } from '../../model/schema/field.ts';
import type { Format } from '../../model/schema/format.ts';
import { cidr, wildcardDomain } from '../shared/formats.ts';
import { resourceTypeOf } from '../shared/resource-type.ts';
import { createdEvents, deletedEvents, resourceMeta, updatedEvents } from './events.ts';

/** A host, a range or a domain. A single address is stored as /32 or /128. */
const resourceAddress: Format = {
  name: 'address',
  canonical(text) {
    const address = parseAddress(text);
    if (address !== undefined) return { value: `${address.text}/${address.family === 4 ? 32 : 128}` };
    if (text.includes('/')) return cidr.canonical(text);
    const name = wildcardDomain.canonical(text);
    if ('value' in name) return name;
    return {
      fault: `\`${text}\` is neither an address nor a range nor a domain; write one such as 10.20.0.10, 10.20.0.0/16 or *.example.com`,
    };
  },
  // Clients of this API expect the prefix.
  keepsSpelling: (text) => parseAddress(text) === undefined,
};

const spec = {
  network: ref('Network', { doc: 'The network that the resource belongs to.', required: true }),
  name: string({
    maxLength: maxLengths.name,
    doc: 'The name people see. Unique among the network resources of the account, across all networks.',
    required: true,
    minLength: 1,
  }),
  description: string({ doc: 'What the resource is.', default: '' }),
  address: string({
    doc: 'An IP address, an address range, or a domain, with `*.` in front for all names below it. A single address is stored as /32 or /128.',
    required: true,
    minLength: 1,
    format: resourceAddress,
  }),
  enabled: boolean({ doc: 'Whether the resource can be reached.', required: true, documentDefault: true }),
  groups: refs('Group', {
    doc: 'Groups that the resource belongs to.',
    answer: 'summaries',
    required: true,
    documentDefault: [],
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    NetworkResource: { fields: typeof spec; derived: object };
  }
}

export const networkResource = defineKind({
  name: 'NetworkResource',
  doc: 'A host, a subnet or a domain in a network. Policies can name it as a destination, directly or through a group.',
  path: '/api/networks/{networkId}/resources',
  listPath: '/api/networks/resources',
  idParameter: 'resourceId',
  module: 'networks',
  document: { allowed: true, shortName: 'hres' },
  parent: { kind: 'Network', field: 'network', inline: 'resources', answer: 'ids' },
  spec,
  service: { member: 'serviceRef', field: 'address' },
  naturalKey: (spec) => spec.name,
  // A renamed resource with the same address keeps its id, and so do the policies that name it.
  pairing: (spec) => spec.address,
  computed: {
    type: {
      doc: 'Type of the address.',
      schema: { type: 'string', enum: ['host', 'subnet', 'domain'] },
      value: (object) => resourceTypeOf(object.spec.address ?? ''),
    },
  },
  uniques: {
    name: {
      path: '/name',
      value: (object) => object.spec.name ?? '',
      message: (name) =>
        `a network resource with the name \`${name}\` already exists in this account; choose another name`,
    },
  },
  // A service depends on its resource, so a refused delete answers `precondition`. Where only a policy names the
  // resource, it answers `in_use`.
  inUse: { ProxyService: 'precondition' },
  activity: {
    create: 'network.resource.create',
    update: 'network.resource.update',
    delete: 'network.resource.delete',
  },
  activityMeta: resourceMeta,
  createEvents: createdEvents,
  updateEvents: updatedEvents,
  deleteEvents: deletedEvents,
  example: {
    network: 'office-network',
    name: 'File server',
    description: 'Shared folders of all teams.',
    address: '10.20.0.10/32',
    enabled: true,
    groups: ['office-servers'],
  },
});
