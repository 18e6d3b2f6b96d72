import { asObjects, type JsonObject } from '../../lib/json.ts';
import { parseAddress } from '../../lib/net/address.ts';
import type { State } from '../../model/declare/kind.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { isOfKind, type Stored } from '../../model/state/stored.ts';
import { clusterOf } from '../shared/proxy-cluster.ts';
import { portOf } from '../shared/service-port.ts';
import { hasDerivedHost } from './canonical.ts';
import type { Auth, ServiceTarget } from './fields.ts';
import { enabledAuth } from './rules.ts';
import { targetsOf } from './state-checks.ts';

/** Adds the hosts that follow from the targets to the response. */
export function withTargetHosts(body: JsonObject, service: Stored<'ProxyService'>, state: State): JsonObject {
  const targets = asObjects(body['targets']).map((shown, at) => withTargetHost(shown, targetsOf(service)[at], state));
  return { ...body, targets };
}

function withTargetHost(shown: JsonObject, target: ServiceTarget | undefined, state: State): JsonObject {
  const own = target === undefined || !hasDerivedHost(target) ? undefined : state.get(target.target_id ?? '');
  return own === undefined ? shown : { ...shown, host: hostOf(own) };
}

/** Returns the address of a peer or of a network resource: an IP address without its prefix, a range or a name. */
function hostOf(object: StoredObject): string {
  const text =
    (isOfKind(object, 'Peer') ? object.spec.ip : isOfKind(object, 'NetworkResource') && object.spec.address) || '';
  const [address = ''] = text.split('/');
  return parseAddress(address) === undefined ? text : address;
}

/** Returns the creation time of a service, and what its proxies last reported about it. */
export function responseMeta({ id, createdAt }: Stored<'ProxyService'>, { observed }: State): JsonObject {
  const report = observed?.(id);
  const issued = report?.['certificate_issued_at'];
  return {
    created_at: createdAt,
    ...(typeof issued === 'string' ? { certificate_issued_at: issued } : {}),
    status: report?.['status'] ?? 'pending',
  };
}

/** Returns the metadata of events about a service. */
export function serviceMeta(service: Stored<'ProxyService'>, state: State): Readonly<Record<string, string>> {
  const [target] = targetsOf(service);
  const port = portOf(service);
  // A stored spec is canonical, so it has the shape that the fields declare.
  const auth = enabledAuth(service.spec.auth as Auth);
  return {
    name: service.name,
    domain: service.spec.domain ?? '',
    proxy_cluster: clusterOf(service.spec.domain ?? '', state)?.name ?? '',
    source: 'permanent',
    auth: String(auth.length > 0),
    mode: service.spec.mode ?? '',
    ...(port === 0 ? {} : { listen_port: String(port) }),
    ...(target === undefined ? {} : targetMeta(target)),
  };
}

function targetMeta({ target_id = '', target_type, options }: ServiceTarget): Readonly<Record<string, string>> {
  const { proxy_protocol, request_timeout, session_idle_timeout } = options;
  return {
    target_id,
    target_type,
    ...(proxy_protocol ? { proxy_protocol: 'true' } : {}),
    ...(request_timeout === undefined ? {} : { request_timeout }),
    ...(session_idle_timeout === undefined ? {} : { session_idle_timeout }),
  };
}
