import { parseCidr } from '../../lib/net/address.ts';
import { defineKind, type Fault, type State } from '../../model/declare/kind.ts';
import { boolean, optionalString, refs, setOf, string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { cidr, wildcardDomain } from '../shared/formats.ts';
import { haveCommonPeer, holdsPeer } from '../shared/membership.ts';
import { exactlyOneRouter, masqueradeField, metricField, routingGroups, routingPeer } from '../shared/routing.ts';

const spec = {
  description: string({ doc: 'What the route is for.', required: true, documentDefault: '' }),
  network_id: string({
    doc: 'Name of the network. Routes with the same name back each other up when a routing peer fails.',
    required: true,
    minLength: 1,
    maxLength: 40,
  }),
  enabled: boolean({ doc: 'Whether peers use the route.', required: true, documentDefault: true }),
  peer: routingPeer,
  peer_groups: routingGroups,
  network: optionalString({
    doc: 'The address range to which traffic is routed, such as 10.20.0.0/16. Give either this or `domains`.',
    format: cidr,
    omitEmpty: 'always',
  }),
  domains: setOf(string({ doc: 'A domain, `*.` in front for all names below it.', format: wildcardDomain }), {
    doc: 'Domains to which traffic is routed. Give either this or `network`.',
    maxItems: 32,
    omitEmpty: 'always',
  }),
  metric: metricField('Priority among routes to the same destination; the lowest number wins.'),
  masquerade: masqueradeField,
  groups: refs('Group', { doc: 'Groups of peers that receive the route.', required: true, minItems: 1 }),
  keep_route: boolean({
    doc: 'Whether an address stays routed after a domain stopped resolving to it.',
    required: true,
    documentDefault: false,
  }),
  access_control_groups: refs('Group', {
    doc: 'When given, only sources of policies with one of these groups as a destination may use the route.',
    omitEmpty: true,
  }),
  skip_auto_apply: boolean({
    doc: 'For exit nodes (0.0.0.0/0): whether clients wait for their user to switch the route on.',
    default: false,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    Route: { fields: typeof spec; derived: object };
  }
}

export const route = defineKind({
  name: 'Route',
  doc: 'A route from peers to a network or to domains outside the mesh, through peers that can reach them.',
  path: '/api/routes',
  idParameter: 'routeId',
  module: 'routes',
  document: { allowed: true, shortName: 'hroute' },
  nameField: 'network_id',
  spec,
  computed: {
    network_type: {
      doc: 'Type of the destination.',
      schema: { type: 'string', enum: ['IPv4', 'IPv6', 'Domain'] },
      value: (object) => networkTypeOf(object),
    },
  },
  indexes: { destination: destinationOf },
  rules: [
    { rule: 'exactlyOne', members: ['network', 'domains'], code: 'route_destination_exclusive', at: 'domains' },
    exactlyOneRouter('route_router_exclusive'),
  ],
  checkState: checkOverlap,
  activity: { create: 'route.add', update: 'route.update', delete: 'route.delete' },
  activityMeta: (object) => ({
    name: object.name,
    network_range: object.spec.network ?? '',
    domains: (object.spec.domains ?? []).join(', '),
    peer_id: object.spec.peer ?? '',
    peer_groups: (object.spec.peer_groups ?? []).join(', '),
  }),
  example: {
    description: 'The office network, by way of either gateway.',
    network_id: 'office',
    enabled: true,
    peer_groups: ['office-gateways'],
    network: '10.20.0.0/16',
    metric: 100,
    masquerade: true,
    groups: ['developers'],
    keep_route: false,
    access_control_groups: ['office-network'],
    skip_auto_apply: false,
  },
});

function networkTypeOf(object: Stored<'Route'>): string {
  const range = parseCidr(object.spec.network ?? '');
  return range.ok ? `IPv${range.cidr.family}` : 'Domain';
}

/** Returns the destination of a route, by which routes are indexed: the range, or all domains as one text. */
function destinationOf(route: Stored<'Route'>): readonly string[] {
  const network = route.spec.network ?? '';
  const domains = route.spec.domains ?? [];
  return network !== '' ? [network] : domains.length > 0 ? [domains.join(' ')] : [];
}

/** Checks that no peer routes to one destination by two routes. */
function checkOverlap(route: Stored<'Route'>, state: State): readonly Fault[] {
  return destinationOf(route)
    .flatMap((destination) => state.lookUp('Route', 'destination', destination))
    .filter((other) => other.id !== route.id && haveCommonRouter(route, other, state))
    .map((other) => ({
      code: 'route_overlaps',
      path: (route.spec.peer ?? '') === '' ? '/peer_groups' : '/peer',
      message:
        `a route to ${destinationOf(route).join()} by some of these peers already exists ` +
        `(\`${other.name}\`, id ${other.id}); choose other routing peers or change that route`,
    }));
}

function haveCommonRouter(a: Stored<'Route'>, b: Stored<'Route'>, state: State): boolean {
  const [peerA, peerB] = [a.spec.peer ?? '', b.spec.peer ?? ''];
  const [groupsA, groupsB] = [groupsOf(a, state), groupsOf(b, state)];
  if (peerA !== '' && peerB !== '') return peerA === peerB;
  if (peerA !== '') return groupsB.some((group) => holdsPeer(group, peerA));
  if (peerB !== '') return groupsA.some((group) => holdsPeer(group, peerB));
  return groupsA.some((one) => groupsB.some((other) => haveCommonPeer(one, other, state)));
}

function groupsOf(route: Stored<'Route'>, state: State): readonly Stored<'Group'>[] {
  return (route.spec.peer_groups ?? []).flatMap((id) => state.find('Group', id) ?? []);
}
