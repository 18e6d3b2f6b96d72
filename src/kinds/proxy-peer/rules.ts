import type { Consequence, Deed, Fault, State, Step } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { freeAddress, isTakenIn, rangeOf } from '../shared/peer-addresses.ts';
import { listProxies } from '../shared/private-access.ts';
import { textOf } from '../shared/stored.ts';

/** A proxy gets an address when it comes, and the group of its cluster's proxies holds exactly those that are there. */
export function followProxyPeer({ before, after }: Step, state: State): readonly Consequence[] {
  const clusters = new Set([before, after].flatMap((proxy) => (proxy === undefined ? [] : [textOf(proxy, 'cluster')])));
  return [
    ...(after === undefined ? [] : settle(after, state)),
    ...[...clusters].flatMap((cluster) => listProxies(cluster, state)),
  ];
}

function settle(proxy: StoredObject, state: State): readonly Consequence[] {
  if (textOf(proxy, 'ip') !== '') return [];
  const range = rangeOf(state.ofKind('Account')[0], 'ip');
  const ip = range === undefined ? undefined : freeAddress(range, proxy.id, isTakenIn(state, 'ip'));
  return ip === undefined ? [] : [{ change: proxy, spec: { ...proxy.spec, ip } }];
}

/** Without an address there is no place in the mesh. */
export function checkAddress({ after }: Deed): readonly Fault[] {
  if (after === undefined || textOf(after, 'ip') !== '') return [];
  const message = 'the account has no address left for another proxy; choose a larger `network_range`, or delete peers';
  return [{ code: 'nothing_free', path: '', message }];
}
