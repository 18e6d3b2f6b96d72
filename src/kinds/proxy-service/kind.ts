import { defineKind } from '../../model/declare/kind.ts';
import { serviceStatuses } from '../../model/declare/service-words.ts';
import { deriveAccess } from '../shared/private-access.ts';
import { servingCluster } from '../shared/proxy-cluster.ts';
import { portOf } from '../shared/service-port.ts';
import { responseMeta, withTargetHosts } from './answer.ts';
import { dropIneffectiveMembers } from './canonical.ts';
import { createdEvents, deletedEvents, isExposed, refuseExposedChange, updatedEvents } from './exposed.ts';
import { serviceFields } from './fields.ts';
import { assignPort, isPortChosen } from './ports.ts';
import { checkService, refuseModeChange, warnOfOpening } from './rules.ts';
import { checkAgainstState } from './state-checks.ts';

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    ProxyService: { fields: typeof serviceFields; derived: ProxyServiceDerived };
  }
}

/** Data that the server keeps about a service in addition to the declared fields. */
interface ProxyServiceDerived {
  readonly expired: boolean;
  readonly listen_port: number;
  /** Time until which a peer exposes it, in ISO 8601. */
  readonly exposed_until: string;
}

export const proxyService = defineKind({
  name: 'ProxyService',
  doc: 'A service inside the mesh that a cluster of proxies offers under a domain, to everyone or to selected clients.',
  path: '/api/reverse-proxies/services',
  idParameter: 'serviceId',
  module: 'services',
  observed: 'proxies',
  document: { allowed: true, shortName: 'hsvc' },
  spec: serviceFields,
  computed: {
    port_auto_assigned: {
      doc: 'Whether the server chose `listen_port`.',
      schema: { type: 'boolean' },
      value: isPortChosen,
    },
    proxy_cluster: {
      doc: 'The address of the cluster that serves the domain. Absent while no cluster serves it, and while a custom domain is not proved.',
      schema: { type: 'string' },
      optional: true,
      value: (object, state) => servingCluster(object.spec.domain ?? '', state)?.name,
    },
    terminated: {
      doc: 'Whether the service was ended by the operator of the proxies.',
      schema: { type: 'boolean' },
      value: () => false,
    },
    meta: {
      doc: 'When the service was made, and its status as its proxies report it. `pending` until one of them reports one.',
      schema: {
        type: 'object',
        required: ['created_at', 'status'],
        properties: {
          created_at: { type: 'string', format: 'date-time' },
          certificate_issued_at: { type: 'string', format: 'date-time' },
          status: {
            type: 'string',
            enum: serviceStatuses,
          },
        },
      },
      value: responseMeta,
    },
  },
  uniques: {
    domain: {
      path: '/domain',
      value: (object) => object.spec.domain ?? '',
      message: (value) => `a service with the domain \`${value}\` already exists; choose another domain`,
    },
  },
  indexes: { port: (object) => (portOf(object) === 0 ? [] : [String(portOf(object))]) },
  canonicalize: dropIneffectiveMembers,
  check: checkService,
  checkState: checkAgainstState,
  checkMutation: (mutation) => [...refuseExposedChange(mutation), ...refuseModeChange(mutation)],
  derivedChanges(step, state) {
    const service = step.after ?? step.before;
    return service === undefined ? [] : [...assignPort(step, state), ...deriveAccess(service, state)];
  },
  warnings: warnOfOpening,
  isSystem: isExposed,
  createEvents: createdEvents,
  updateEvents: updatedEvents,
  deleteEvents: deletedEvents,
  respond: withTargetHosts,
  example: {
    name: 'Build server',
    domain: 'builds.proxy.example.com',
    mode: 'http',
    targets: [
      {
        target_id: 'build-server',
        target_type: 'peer',
        path: '/',
        protocol: 'http',
        port: 8080,
        enabled: true,
        options: { request_timeout: '30s', path_rewrite: 'preserve', custom_headers: { 'X-Served-By': 'heddle' } },
      },
    ],
    enabled: true,
    pass_host_header: false,
    rewrite_redirects: true,
    auth: { bearer_auth: { enabled: true, distribution_groups: ['developers'] } },
    access_restrictions: { blocked_cidrs: ['203.0.113.0/24'], allowed_countries: ['CH', 'DE'] },
    private: false,
  },
});
