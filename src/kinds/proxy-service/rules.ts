import type { Fault } from '../../model/declare/kind.ts';
import { defaultPort } from '../../model/declare/service-words.ts';
import type { Stored } from '../../model/state/stored.ts';
import type { Auth, ServiceSpec, ServiceTarget } from './fields.ts';
import { checkCustomHeaders, checkHeaderNames } from './headers.ts';

/** Checks a service for contradictions that do not depend on other objects. */
export function checkService(spec: ServiceSpec): readonly Fault[] {
  return [
    ...(spec.mode === 'http' ? checkHttp(spec) : checkConnections(spec)),
    ...checkPrivate(spec),
    ...spec.targets.flatMap((target, at) => checkTarget(spec, target, `/targets/${at}`)),
    ...checkSecrets(spec.auth),
    ...checkHeaderNames(spec.auth.header_auths),
  ];
}

function checkHttp({ listen_port }: ServiceSpec): readonly Fault[] {
  if (listen_port === 0) return [];
  const message =
    'a service of mode `http` cannot have a separate port; remove `listen_port`, or choose tcp, udp or tls';
  return [{ code: 'service_port_unused', path: '/listen_port', message }];
}

/** Checks that a service that forwards connections unchanged has at most one target and no sign-in. */
function checkConnections({ mode, targets, auth }: ServiceSpec): readonly Fault[] {
  const faults: Fault[] = [];
  if (targets.length > 1) {
    const message = `a service of mode \`${mode}\` has one target, not ${targets.length}; keep one`;
    faults.push({ code: 'service_targets_many', path: '/targets', message });
  }
  if (enabledAuth(auth).length > 0) {
    const message = `a service of mode \`${mode}\` does not support sign-in; remove \`auth\`, or choose http`;
    faults.push({ code: 'service_auth_unused', path: '/auth', message });
  }
  return faults;
}

/** Returns the names of the enabled sign-in methods. */
export function enabledAuth(auth: Auth): readonly string[] {
  const { header_auths, ...single } = auth;
  const names = Object.entries(single).flatMap(([name, method]) => (method?.enabled === true ? [name] : []));
  return header_auths.some((entry) => entry.enabled) ? [...names, 'header_auths'] : names;
}

function checkPrivate(spec: ServiceSpec): readonly Fault[] {
  if (!spec.private) return [];
  const faults: Fault[] = [];
  if (spec.mode !== 'http') {
    const message = `a private service needs the mode \`http\`, not \`${spec.mode}\`; change the mode or make it public`;
    faults.push({ code: 'service_private_mode', path: '/private', message });
  }
  if (spec.access_groups.length === 0) {
    const message = 'a private service needs groups of peers that reach it; name at least one in `access_groups`';
    faults.push({ code: 'service_private_groups', path: '/access_groups', message });
  }
  if (spec.auth.bearer_auth?.enabled === true) {
    const message = 'peers reach a private service by their groups, without a sign-in; disable `bearer_auth`';
    faults.push({ code: 'service_private_bearer', path: '/auth/bearer_auth', message });
  }
  return faults;
}

function checkTarget({ mode }: ServiceSpec, target: ServiceTarget, path: string): readonly Fault[] {
  return [
    ...checkHost(target, path),
    ...checkPort(mode, target, path),
    ...checkModes(mode, target, path),
    ...checkCustomHeaders(target.options.custom_headers, `${path}/options/custom_headers`),
  ];
}

function checkHost({ target_type, host, options }: ServiceTarget, path: string): readonly Fault[] {
  const faults: Fault[] = [];
  const isCluster = target_type === 'cluster';
  if (host === undefined && (isCluster || target_type === 'subnet')) {
    const message = `a target of type \`${target_type}\` does not name the machine that serves; give its \`host\``;
    faults.push({ code: 'target_host_missing', path: `${path}/host`, message });
  }
  if (isCluster && !options.direct_upstream) {
    const message =
      'a target of type `cluster` is reached through the network of the proxy; set `direct_upstream: true`';
    faults.push({ code: 'target_not_direct', path: `${path}/options/direct_upstream`, message });
  }
  return faults;
}

/** Only HTTP targets have a default port. */
function checkPort(mode: string, { port, protocol }: ServiceTarget, path: string): readonly Fault[] {
  if (port !== 0 || (mode === 'http' && defaultPort(protocol) !== undefined)) return [];
  const message = `\`port\` must be at least 1: a service of mode \`${mode}\` with a target of protocol \`${protocol}\` has no default port`;
  return [{ code: 'value_out_of_range', path: `${path}/port`, message }];
}

interface Restriction {
  readonly member: string;
  readonly modes: readonly string[];
  isUsed(target: ServiceTarget): boolean;
}

/** Options that only some modes support. */
const restrictions: readonly Restriction[] = [
  { member: 'path', modes: ['http'], isUsed: ({ path }) => path !== undefined },
  { member: 'options/skip_tls_verify', modes: ['http'], isUsed: ({ options }) => options.skip_tls_verify },
  { member: 'options/path_rewrite', modes: ['http'], isUsed: ({ options }) => options.path_rewrite !== undefined },
  {
    member: 'options/custom_headers',
    modes: ['http'],
    isUsed: ({ options }) => Object.keys(options.custom_headers).length > 0,
  },
  { member: 'options/proxy_protocol', modes: ['tcp', 'tls'], isUsed: ({ options }) => options.proxy_protocol },
  {
    member: 'options/session_idle_timeout',
    modes: ['udp'],
    isUsed: ({ options }) => options.session_idle_timeout !== undefined,
  },
];

function checkModes(mode: string, target: ServiceTarget, path: string): readonly Fault[] {
  return restrictions
    .filter(({ modes, isUsed }) => !modes.includes(mode) && isUsed(target))
    .map(({ member, modes }) => ({
      code: 'target_option_unused',
      path: `${path}/${member}`,
      message: `\`${member.split('/').at(-1)}\` applies only to the mode ${modes.join(' or ')}, but the service has \`${mode}\`; remove it`,
    }));
}

/** An enabled sign-in method without its secret would let in no user, or every user. */
function checkSecrets({ password_auth, pin_auth, header_auths }: Auth): readonly Fault[] {
  const missing = (member: string, name: string): Fault => {
    const message = `\`${name}\` is missing, and there is no stored value to keep; give it, or disable this way of signing in`;
    return { code: 'service_secret_missing', path: `/auth/${member}/${name}`, message };
  };
  return [
    ...(password_auth?.enabled === true && password_auth.password === undefined
      ? [missing('password_auth', 'password')]
      : []),
    ...(pin_auth?.enabled === true && pin_auth.pin === undefined ? [missing('pin_auth', 'pin')] : []),
    ...header_auths.flatMap((entry, at) =>
      entry.enabled && entry.value === undefined ? [missing(`header_auths/${at}`, 'value')] : [],
    ),
  ];
}

/** Refuses to change the mode: it decides what all other members mean, so the result would be a different service. */
export function refuseModeChange({
  before,
  after,
}: {
  readonly before?: Stored<'ProxyService'>;
  readonly after?: Stored<'ProxyService'>;
}): readonly Fault[] {
  if (before === undefined || after === undefined || before.spec.mode === after.spec.mode) return [];
  const message = `the mode of a service cannot change from \`${before.spec.mode}\` to \`${after.spec.mode}\`; make another service`;
  return [{ code: 'service_mode_fixed', path: '/mode', message }];
}

/** Warns when a service required sign-in, or was private, and no longer does. */
export function warnOfOpening(
  before: Stored<'ProxyService'> | undefined,
  after: Stored<'ProxyService'> | undefined,
): readonly string[] {
  const asks = (service: Stored<'ProxyService'> | undefined) =>
    // A stored spec is canonical, so it has the shape that the fields declare.
    service !== undefined && (enabledAuth(service.spec.auth as Auth).length > 0 || service.spec.private === true);
  return asks(before) && after !== undefined && !asks(after)
    ? [`the service ${after.name} becomes reachable without a sign-in`]
    : [];
}
