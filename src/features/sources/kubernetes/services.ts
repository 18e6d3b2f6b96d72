import { ApiError, reasonOf } from '../../../kubernetes/errors.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import { isObject, type Json, type JsonObject, membersOf } from '../../../lib/json.ts';
import type { Problem } from '../../../model/problem.ts';
import { isServiceName } from '../../../model/schema/values.ts';
import type { Cluster } from './cluster.ts';
import { pathOf } from './resource-file.ts';
import type { Stated } from './stated-resources.ts';

/** Where Services are looked up. */
export interface ServicesOptions {
  readonly cluster: Pick<Cluster, 'services'>;
  readonly namespace: string;
}

/** Resources with the addresses of the Services that they name, and what keeps some from having them. */
export interface WithServices {
  readonly stated: readonly Stated[];
  readonly problems: readonly Problem[];
}

/**
 * Puts the address of a Service beside a resource in place of its name: the documents of a cluster name addresses, as all
 * documents do. Throws `ApiError`, `Unreachable` when the API server cannot answer.
 */
export async function resolveServices(options: ServicesOptions, stated: readonly Stated[]): Promise<WithServices> {
  const found = await Promise.all(stated.map((one) => resolveOne(options, one)));
  return {
    stated: found.map((one, at) => ('stated' in one ? one.stated : (stated[at] ?? one.of))),
    problems: found.flatMap((one) => ('problem' in one ? [one.problem] : [])),
  };
}

async function resolveOne(
  options: ServicesOptions,
  one: Stated,
): Promise<{ readonly stated: Stated } | { readonly problem: Problem; readonly of: Stated }> {
  const { kind, resource } = one;
  const { [kind.service?.member ?? '']: reference, ...spec } = membersOf(resource.spec);
  if (kind.service === undefined || !isObject(reference)) return { stated: one };
  const address = await addressOf(options, reference);
  if ('reason' in address) {
    const message = `\`${kind.service.member}\` cannot be followed: ${address.reason}`;
    return { of: one, problem: problemOf(options, one, `/spec/${kind.service.member}`, message) };
  }
  return { stated: { kind, resource: { ...resource, spec: { ...spec, [kind.service.field]: address.text } } } };
}

function problemOf({ namespace }: ServicesOptions, { kind, resource }: Stated, path: string, message: string): Problem {
  const { name } = resource.metadata;
  const file = pathOf({ namespace, plural: kind.plural, name });
  return { code: 'service_unresolved', kind: kind.kind, key: name, file, line: 1, path, message };
}

type Address = { readonly text: string } | { readonly reason: string };

async function addressOf({ cluster, namespace }: ServicesOptions, { name: named, port }: JsonObject): Promise<Address> {
  const name = String(named);
  const where = `the Service \`${name}\` of the namespace ${namespace}`;
  if (!cluster.services.mayRead) return { reason: offHint };
  if (!isServiceName(name)) return { reason: `no Service can have the name \`${name}\`; correct it` };
  try {
    const service = await cluster.services.read(namespace, name);
    if (service !== undefined) return addressIn(service, where, port);
    return { reason: `the namespace ${namespace} has no Service \`${name}\`; create it, and it is followed by itself` };
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    return { reason: `${where} cannot be read: ${reasonOf(error)}; give the server the right to get Services there` };
  }
}

const offHint =
  'the server reads no Services of this cluster; its operator permits it by `services: { read: true }` in the settings of the cluster, or `kubernetes.services.read` of the chart';

function addressIn({ spec }: Resource, where: string, port: Json | undefined): Address {
  const { type, clusterIP, ports } = membersOf(spec);
  if (type === 'ExternalName')
    return { reason: `${where} is a name outside the cluster (ExternalName); write that name as the address` };
  if (clusterIP === 'None')
    return { reason: `${where} has no address of its own (headless); name another Service, or write an address` };
  if (typeof clusterIP !== 'string' || clusterIP === '') return { reason: `${where} has no address yet` };
  const known = (Array.isArray(ports) ? ports : []).map((one) => membersOf(one)['port']);
  if (port !== undefined && !known.includes(port))
    return { reason: `${where} has no port ${port}; it has ${known.join(', ') || 'none'}` };
  return { text: `${clusterIP}/${clusterIP.includes(':') ? 128 : 32}` };
}
