import type { DerivedChange, Fault, Mutation, State, Step } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { freeAddress, isTakenIn, rangeOf } from '../shared/peer-addresses.ts';
import { listProxies } from '../shared/private-access.ts';

/** A proxy gets an address when it comes, and the group of its cluster's proxies holds exactly those that are there. */
export function followProxyPeer({ before, after }: Step<Stored<'ProxyPeer'>>, state: State): readonly DerivedChange[] {
  const clusters = new Set([before, after].flatMap((proxy) => (proxy === undefined ? [] : [proxy.spec.cluster ?? ''])));
  return [
    ...(after === undefined ? [] : settle(after, state)),
    ...[...clusters].flatMap((cluster) => listProxies(cluster, state)),
  ];
}

function settle(proxy: Stored<'ProxyPeer'>, state: State): readonly DerivedChange[] {
  if ((proxy.spec.ip ?? '') !== '') return [];
  const range = rangeOf(state.ofKind('Account')[0], 'ip');
  const ip = range === undefined ? undefined : freeAddress(range, proxy.id, isTakenIn(state, 'ip'));
  return ip === undefined ? [] : [{ change: proxy, spec: { ...proxy.spec, ip } }];
}

/** Without an address there is no place in the mesh. */
export function checkAddress({ after }: Mutation<Stored<'ProxyPeer'>>): readonly Fault[] {
  if (after === undefined || (after.spec.ip ?? '') !== '') return [];
  const message = 'the account has no address left for another proxy; choose a larger `network_range`, or delete peers';
  return [{ code: 'nothing_free', path: '', message }];
}
