import type { Fault, State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { clusterOf } from '../shared/proxy-cluster.ts';
import { resourceTypeOf } from '../shared/resource-type.ts';
import { portOf } from '../shared/service-port.ts';
import type { ServiceTarget } from './fields.ts';

/** Checks a service against its cluster, other services and its targets. */
export function checkAgainstState(service: Stored<'ProxyService'>, state: State): readonly Fault[] {
  const cluster = clusterOf(service.spec.domain ?? '', state);
  return [
    ...checkAbilities(service, cluster),
    ...checkPort(service, cluster, state),
    ...checkTargetTypes(service, state),
  ];
}

function checkAbilities(
  service: Stored<'ProxyService'>,
  cluster: Stored<'ProxyCluster'> | undefined,
): readonly Fault[] {
  const where = cluster === undefined ? 'the cluster of its domain is unknown' : `${cluster.name} does not support it`;
  const faults: Fault[] = [];
  if (Number(service.spec.listen_port) !== 0 && cluster?.spec.supports_custom_ports !== true) {
    const message = `a custom port needs a cluster that supports it, but ${where}; leave \`listen_port\` 0`;
    faults.push({ code: 'service_port_unsupported', path: '/listen_port', message });
  }
  const mode = service.spec.access_restrictions?.reputation_mode;
  if (mode !== 'off' && cluster?.spec.supports_reputation !== true) {
    const message = `\`${mode}\` needs a cluster that checks the reputation of addresses, but ${where}; write \`off\``;
    const path = '/access_restrictions/reputation_mode';
    faults.push({ code: 'service_reputation_unsupported', path, message });
  }
  return faults;
}

/** Checks that no other service uses the port on this cluster. */
function checkPort(
  service: Stored<'ProxyService'>,
  cluster: Stored<'ProxyCluster'> | undefined,
  state: State,
): readonly Fault[] {
  const port = portOf(service);
  if (port === 0) return [];
  return state
    .lookUp('ProxyService', 'port', String(port))
    .filter(({ id, spec }) => id !== service.id && clusterOf(spec.domain ?? '', state)?.id === cluster?.id)
    .map((other) => ({
      code: 'value_taken',
      path: '/listen_port',
      message: `a service on port ${port} already exists on this cluster (\`${other.name}\`); choose another port, or 0`,
    }));
}

function checkTargetTypes(service: Stored<'ProxyService'>, state: State): readonly Fault[] {
  return targetsOf(service).flatMap(({ target_id, target_type }, at) => {
    const resource = state.find('NetworkResource', target_id ?? '');
    const address = resource?.spec.address;
    // Without a server, only the name of a resource may be known.
    if (resource === undefined || address === undefined) return [];
    const type = resourceTypeOf(address);
    if (type === target_type) return [];
    const message = `the network resource \`${resource.name}\` is of type \`${type}\`, not \`${target_type}\`; write \`target_type: ${type}\``;
    return [{ code: 'target_type_wrong', path: `/targets/${at}/target_type`, message }];
  });
}

/** Returns the targets of a stored service. */
export function targetsOf(service: Stored<'ProxyService'>): readonly ServiceTarget[] {
  // A stored spec is canonical, so it has the shape that the fields declare.
  return service.spec.targets as readonly ServiceTarget[];
}
