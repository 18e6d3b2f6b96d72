import type { Json, JsonObject } from '../../lib/json.ts';
import { isWithin } from '../../lib/net/domain.ts';
import { type Computed, defineKind, type Fault, type State } from '../../model/declare/kind.ts';
import type { DerivedChange } from '../../model/declare/mutation.ts';
import {
  type DomainState,
  domainStates,
  maxCustomDomainLength,
  proofNameOf,
} from '../../model/declare/service-words.ts';
import { string } from '../../model/schema/field.ts';
import type { Stored } from '../../model/state/stored.ts';
import { domain } from '../shared/formats.ts';
import { deriveAccess, isPrivate } from '../shared/private-access.ts';
import { clusterAt, clusterOf, isProved, resolvesThrough } from '../shared/proxy-cluster.ts';
import { portOf } from '../shared/service-port.ts';

const spec = {
  domain: string({
    doc: 'The domain at which, and below which, services are reached. It cannot change.',
    access: 'createOnly',
    required: true,
    minLength: 1,
    maxLength: maxCustomDomainLength,
    format: domain,
  }),
  target_cluster: string({
    doc: 'The address of the cluster that serves the domain.',
    required: true,
    minLength: 1,
    format: domain,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    ProxyDomain: {
      fields: typeof spec;
      derived: { /** What the TXT record that proves the domain says. */ readonly proof: string };
    };
  }
}

type Domain = Stored<'ProxyDomain'>;

/** Returns what the last checks of a domain found. It is stored outside revisions. */
function observationsOf({ id }: Domain, state: State) {
  return state.observed?.(id);
}

type Value = (object: Domain, state: State) => Json;

function computedMember(doc: string, schema: JsonObject, value: Value): Computed<Domain> {
  return { doc, schema, value };
}

/** Returns a computed member that is absent for some domains, such as those of clusters, which need no proof. */
function optionalMember(doc: string, schema: JsonObject, value: (...of: Parameters<Value>) => Json | undefined) {
  return { doc, schema, optional: true as const, value };
}

const abilities = ['supports_custom_ports', 'require_subdomain', 'supports_reputation', 'private'] as const;

/** Returns a computed member: whether the cluster of a domain has an ability. */
function abilityMember(name: (typeof abilities)[number], doc: string) {
  return optionalMember(`${doc} Absent while the cluster is unknown.`, { type: 'boolean' }, (object, state) => {
    const cluster = clusterAt(object.spec.target_cluster ?? '', state);
    return cluster === undefined ? undefined : cluster.spec[name] === true;
  });
}

export const proxyDomain = defineKind({
  name: 'ProxyDomain',
  doc: 'A custom domain for services of reverse proxies, instead of names below the address of a cluster. A DNS record proves it; services below it are offered once it is proved.',
  path: '/api/reverse-proxies/domains',
  idParameter: 'domainId',
  verbs: ['list', 'create', 'delete'],
  deleteReply: 'no_content',
  module: 'services',
  observed: 'proxies',
  document: { allowed: true, shortName: 'hpdom' },
  nameField: 'domain',
  spec,
  computed: {
    type: computedMember(
      '`custom`, or `free` for the address of a cluster, which needs no proof.',
      { type: 'string', enum: ['free', 'custom'] },
      () => 'custom',
    ),
    validated: computedMember(
      'Whether the last check found a record that proves the domain.',
      { type: 'boolean' },
      (object, state) => observationsOf(object, state)?.['validated'] === true,
    ),
    status: computedMember(
      '`pending` until the domain is proved, `validated`, or `lapsed` when the record that proved it is gone. Services of a lapsed domain continue.',
      { type: 'string', enum: domainStates },
      stateOf,
    ),
    txt_name: optionalMember('The name of the TXT record that proves the domain.', { type: 'string' }, (object) =>
      proofNameOf(object.spec.domain ?? ''),
    ),
    txt_value: optionalMember(
      'Value of the TXT record. A CNAME record that points to the cluster also proves the domain.',
      { type: 'string' },
      (object) => object.derived.proof ?? '',
    ),
    message: optionalMember(
      'What the last check expected and did not find; absent when it found a record that proves the domain.',
      { type: 'string' },
      (object, state) => (observationsOf(object, state)?.['problem'] as string | null | undefined) ?? undefined,
    ),
    checked_at: optionalMember(
      'When the records were last looked up; absent before the first check.',
      { type: 'string', format: 'date-time' },
      (object, state) => (observationsOf(object, state)?.['checked_at'] as string | null | undefined) ?? undefined,
    ),
    supports_custom_ports: abilityMember('supports_custom_ports', 'Whether services may choose their port.'),
    require_subdomain: abilityMember(
      'require_subdomain',
      'Whether services need a name below the address of the cluster and cannot have the address itself.',
    ),
    supports_reputation: abilityMember(
      'supports_reputation',
      'Whether the cluster can reject addresses with a bad reputation.',
    ),
    private: abilityMember('private', 'Whether the cluster offers private services.'),
  },
  extraListEntries: freeDomains,
  uniques: {
    domain: {
      path: '/domain',
      value: (object) => object.spec.domain ?? '',
      message: (value) => `the domain \`${value}\` already exists; change that one`,
    },
  },
  checkMutation: ({ before, after }, was, next) => {
    if (after === undefined) return [];
    return [...(before === undefined ? refuseClusterDomain(after, next) : []), ...checkPorts(after, was, next)];
  },
  usedBy: (object, state) =>
    state.ofKind('ProxyService').filter((service) => resolvesThrough(object, service.spec.domain ?? '', state)),
  derivedChanges: ({ before, after }, state) => deriveDomainChanges(after ?? before, state),
  generate: (_, { random }) => ({ derived: { proof: `heddle-domain=${hex(random(20))}` } }),
  activity: { create: 'domain.add', update: 'domain.update', delete: 'domain.delete' },
  activityMeta: ({ spec: { domain: name = '', target_cluster = '' } }) => ({ domain: name, target_cluster }),
  example: { domain: 'apps.example.org', target_cluster: 'proxy.example.com' },
});

function stateOf(object: Domain, state: State): DomainState {
  if (observationsOf(object, state)?.['validated'] === true) return 'validated';
  return isProved(object, state) ? 'lapsed' : 'pending';
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the addresses of clusters as free domains. Services below them need no proof. */
function freeDomains(state: State) {
  return state.ofKind('ProxyCluster').map(({ spec: { address = '', ...cluster } }) => ({
    ...{ id: '', domain: address, target_cluster: address, type: 'free', validated: true, status: 'validated' },
    ...Object.fromEntries(abilities.map((name) => [name, cluster[name] === true])),
  }));
}

/**
 * Refuses a domain below the address of a cluster. Everything there is free, so a proof would only take services away
 * from the cluster.
 */
function refuseClusterDomain({ spec: { domain: name = '' } }: Domain, state: State): readonly Fault[] {
  const cluster = state.ofKind('ProxyCluster').find(({ spec: { address = '' } }) => isWithin(name, address));
  if (cluster === undefined) return [];
  const message = `\`${name}\` is within the address of the cluster ${cluster.name}, where services need no custom domain; use the name in the service directly`;
  return [{ code: 'domain_of_cluster', path: '/domain', message }];
}

/** Checks that services which move to another cluster with the domain find no other service on their port there. */
function checkPorts({ spec: { domain: name = '' } }: Domain, was: State, next: State): readonly Fault[] {
  const clusterIn = (state: State, { spec }: Stored<'ProxyService'>) => clusterOf(spec.domain ?? '', state)?.id;
  const moved = next
    .ofKind('ProxyService')
    .filter((service) => portOf(service) !== 0 && isWithin(service.spec.domain ?? '', name))
    .filter((service) => clusterIn(next, service) !== clusterIn(was, service));
  return moved.flatMap((service) => {
    const port = portOf(service);
    const others = next.lookUp('ProxyService', 'port', String(port)).filter(({ id }) => id !== service.id);
    return others
      .filter((other) => clusterIn(next, other) === clusterIn(next, service))
      .map((other) => ({
        code: 'value_taken' as const,
        path: '/target_cluster',
        message: `a service on port ${port} already exists on this cluster (\`${other.name}\`), and the domain would move \`${service.name}\` there too; give one of them another port first`,
      }));
  });
}

/** Returns the changes of access to private services below a domain that was added, changed or deleted. */
function deriveDomainChanges(object: Domain | undefined, state: State): readonly DerivedChange[] {
  return state
    .ofKind('ProxyService')
    .filter((service) => isPrivate(service) && isWithin(service.spec.domain ?? '', object?.spec.domain ?? ''))
    .flatMap((service) => deriveAccess(service, state));
}
