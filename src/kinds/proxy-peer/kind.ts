import { defineKind, type Fault, type State } from '../../model/declare/kind.ts';
import type { DerivedChange, Mutation, ObjectChange } from '../../model/declare/mutation.ts';
import { maxLengths, optionalString, ref, string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { ipv4 } from '../shared/formats.ts';
import { createTakenCheck, findFreeAddress, rangeOf } from '../shared/peer-addresses.ts';
import { updateProxyGroup } from '../shared/private-access.ts';

const spec = {
  name: string({
    doc: 'The id that the proxy gives itself.',
    maxLength: maxLengths.name,
    required: true,
    minLength: 1,
  }),
  cluster: ref('ProxyCluster', { doc: 'The cluster that the proxy belongs to.', access: 'server' }),
  ip: optionalString({ doc: 'Its IPv4 address in the mesh.', format: ipv4, access: 'server' }),
  wg_pub_key: string({ doc: 'The public key of its tunnel.', default: '', access: 'server', hidden: true }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    ProxyPeer: {
      fields: typeof spec;
      derived: { /** The id of the token by which the proxy registered. */ readonly token: string };
    };
  }
}

export const proxyPeer = defineKind({
  name: 'ProxyPeer',
  doc: 'A reverse proxy as a member of the mesh. It is created when a proxy registers with the public key of its tunnel; only peers that may use a private service of its cluster have it in their network maps.',
  verbs: [],
  module: 'services',
  document: { allowed: false, why: 'proxies join the mesh only by registering' },
  spec,
  uniques: {
    ip: {
      path: '/ip',
      value: (object) => object.spec.ip || undefined,
      message: (value) => `a proxy with the address ${value} already exists`,
    },
    wg_pub_key: {
      path: '',
      value: (object) => object.spec.wg_pub_key || undefined,
      message: () => 'a proxy with this tunnel key already exists; register with another key pair',
    },
  },
  checkMutation: checkAddress,
  derivedChanges: deriveProxyPeerChanges,
  refuse: (object, action) =>
    `${object.name} represents a proxy in the mesh and cannot be ${action === 'update' ? 'changed' : 'deleted'} by hand; delete its token or its cluster`,
  isSystem: () => true,
  example: { name: 'bern-1' },
});

/**
 * Returns the changes that follow from a change of a proxy peer: a new one gets an address, and the group of its
 * cluster's proxies is updated.
 */
function deriveProxyPeerChanges(
  { before, after }: ObjectChange<Stored<'ProxyPeer'>>,
  state: State,
): readonly DerivedChange[] {
  const clusters = new Set([before, after].flatMap((proxy) => (proxy === undefined ? [] : [proxy.spec.cluster ?? ''])));
  return [
    ...(after === undefined ? [] : assignAddress(after, state)),
    ...[...clusters].flatMap((cluster) => updateProxyGroup(cluster, state)),
  ];
}

function assignAddress(proxy: Stored<'ProxyPeer'>, state: State): readonly DerivedChange[] {
  if ((proxy.spec.ip ?? '') !== '') return [];
  const range = rangeOf(state.ofKind('Account')[0], 'ip');
  const ip = range === undefined ? undefined : findFreeAddress(range, proxy.id, createTakenCheck(state, 'ip'));
  return ip === undefined ? [] : [{ change: proxy, spec: { ...proxy.spec, ip } }];
}

/** Refuses a proxy peer for which there is no free address: without an address it cannot join the mesh. */
function checkAddress({ after }: Mutation<Stored<'ProxyPeer'>>): readonly Fault[] {
  if (after === undefined || (after.spec.ip ?? '') !== '') return [];
  const message = 'the account has no free address for another proxy; choose a larger `network_range`, or delete peers';
  return [{ code: 'nothing_free', path: '', message }];
}
