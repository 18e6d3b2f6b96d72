import { ApiError, reasonOf } from '../../../kubernetes/errors.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import { asObjectOrEmpty, isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { Problem } from '../../../model/problem.ts';
import { isServiceName } from '../../../model/schema/values.ts';
import type { Cluster } from './cluster.ts';
import { pathOf, type ResourceKind, type ServiceMember } from './resource-file.ts';
import type { StatedResource } from './stated-resources.ts';

/** Options for looking up Services. */
export interface ServicesOptions {
  readonly cluster: Pick<Cluster, 'services'>;
  readonly namespace: string;
}

/**
 * Resources with the addresses of the Services that they name, and the problems of those that could not be resolved.
 */
export interface ResolvedResources {
  readonly stated: readonly StatedResource[];
  readonly problems: readonly Problem[];
}

/**
 * Replaces the names of Services in resources by their addresses, because documents contain addresses, also those of a
 * cluster. Throws `ApiError`, `Unreachable` when the API server cannot answer.
 */
export async function resolveServices(
  options: ServicesOptions,
  stated: readonly StatedResource[],
): Promise<ResolvedResources> {
  const naming = stated.filter(namesService);
  const found = await Promise.all(naming.map((one) => resolveOne(options, one)));
  const resolved = new Map(found.map((one, at) => [naming[at], one.stated]));
  return {
    stated: stated.map((one) => resolved.get(one) ?? one),
    problems: found.flatMap(({ problems }) => problems),
  };
}

/** Whether a resource or one of its children names a Service. Few of thousands do. */
function namesService({ kind: { service, childServices = [] }, resource }: StatedResource): boolean {
  if (service === undefined && childServices.length === 0) return false;
  const spec = asObjectOrEmpty(resource.spec);
  if (service !== undefined && isObject(spec[service.member])) return true;
  return childServices.some(({ list, member }) => childrenOf(spec[list]).some((child) => isObject(child[member])));
}

/** Returns the children in a list. The API server accepts only objects there. */
function childrenOf(stated: Json | undefined): readonly JsonObject[] {
  return Array.isArray(stated) ? stated.map((one) => asObjectOrEmpty(one)) : [];
}

async function resolveOne(
  options: ServicesOptions,
  one: StatedResource,
): Promise<{ readonly stated: StatedResource; readonly problems: readonly Problem[] }> {
  const { kind, resource } = one;
  const { spec, faults } = await resolveSpec(options, kind, asObjectOrEmpty(resource.spec));
  if (faults.length > 0) return { stated: one, problems: faults.map((fault) => problemOf(options, one, fault)) };
  return { stated: spec === resource.spec ? one : { kind, resource: { ...resource, spec } }, problems: [] };
}

/** A spec with addresses instead of Services. The same object when it names no Service. */
interface ResolvedSpec {
  readonly spec: JsonObject;
  readonly faults: readonly ServiceFault[];
}

interface ServiceFault {
  /** Path of the member that names the Service, below the spec. */
  readonly path: string;
  readonly message: string;
}

async function resolveSpec(
  options: ServicesOptions,
  { service, childServices = [] }: ResourceKind,
  stated: JsonObject,
): Promise<ResolvedSpec> {
  const own = await resolveMember(options, stated, service);
  const lists = await Promise.all(
    childServices.map(({ list, ...child }) => resolveList(options, own.spec[list], { list, child })),
  );
  const resolved = lists.filter((one) => one !== undefined);
  if (resolved.length === 0) return own;
  return {
    spec: { ...own.spec, ...Object.fromEntries(resolved.map(({ list, entries }) => [list, entries])) },
    faults: [...own.faults, ...resolved.flatMap(({ faults }) => faults)],
  };
}

/** Resolves the children in one list. Returns `undefined` when none of them names a Service. */
async function resolveList(
  options: ServicesOptions,
  stated: Json | undefined,
  { list, child }: { readonly list: string; readonly child: ServiceMember },
) {
  const children = childrenOf(stated);
  if (!children.some((one) => isObject(one[child.member]))) return undefined;
  const found = await Promise.all(children.map((one) => resolveMember(options, one, child)));
  const faults = found.flatMap((one, at) =>
    one.faults.map(({ path, message }) => ({ path: `/${list}/${at}${path}`, message })),
  );
  return { list, entries: found.map(({ spec }) => spec), faults };
}

async function resolveMember(
  options: ServicesOptions,
  stated: JsonObject,
  service: ServiceMember | undefined,
): Promise<ResolvedSpec> {
  const { [service?.member ?? '']: reference, ...others } = stated;
  if (service === undefined || !isObject(reference)) return { spec: stated, faults: [] };
  const { member, field } = service;
  const address = await addressOf(options, reference);
  if ('text' in address) return { spec: { ...others, [field]: address.text }, faults: [] };
  const message = `\`${member}\` cannot be followed: ${address.reason}`;
  return { spec: stated, faults: [{ path: `/${member}`, message }] };
}

function problemOf(
  { namespace }: ServicesOptions,
  { kind, resource }: StatedResource,
  { path, message }: ServiceFault,
): Problem {
  const { name } = resource.metadata;
  const file = pathOf({ namespace, plural: kind.plural, name });
  return { code: 'service_unresolved', kind: kind.kind, key: name, file, line: 1, path: `/spec${path}`, message };
}

type Address = { readonly text: string } | { readonly reason: string };

async function addressOf({ cluster, namespace }: ServicesOptions, { name: named, port }: JsonObject): Promise<Address> {
  const name = String(named);
  const where = `the Service \`${name}\` of the namespace ${namespace}`;
  if (!cluster.services.mayRead) return { reason: disabledHint };
  if (!isServiceName(name)) return { reason: `\`${name}\` is not a valid name of a Service; correct it` };
  try {
    const service = await cluster.services.read(namespace, name);
    if (service !== undefined) return addressIn(service, where, port);
    return {
      reason: `the namespace ${namespace} has no Service \`${name}\`; create it, and it is followed automatically`,
    };
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    return { reason: `${where} cannot be read: ${reasonOf(error)}; give the server the right to get Services there` };
  }
}

const disabledHint =
  'the server reads no Services of this cluster; its operator permits it by `services: { read: true }` in the settings of the cluster, or `kubernetes.services.read` of the chart';

function addressIn({ spec }: Resource, where: string, port: Json | undefined): Address {
  const { type, clusterIP, ports } = asObjectOrEmpty(spec);
  if (type === 'ExternalName')
    return { reason: `${where} refers to a name outside the cluster (ExternalName); write that name as the address` };
  if (clusterIP === 'None')
    return { reason: `${where} has no cluster IP (headless); name another Service, or write an address` };
  if (typeof clusterIP !== 'string' || clusterIP === '') return { reason: `${where} has no address yet` };
  const known = (Array.isArray(ports) ? ports : []).map((one) => asObjectOrEmpty(one)['port']);
  if (port !== undefined && !known.includes(port))
    return { reason: `${where} has no port ${port}; it has ${known.join(', ') || 'none'}` };
  return { text: `${clusterIP}/${clusterIP.includes(':') ? 128 : 32}` };
}
