import type { ServiceSpec, ServiceTarget } from './fields.ts';

/** Removes members that have no effect in combination with the others, so that equal services are written alike. */
export function dropIneffectiveMembers(spec: ServiceSpec): ServiceSpec {
  // A spec that is only stated may lack any member.
  const { targets, auth, access_groups }: Partial<ServiceSpec> = spec;
  return {
    ...spec,
    ...(targets === undefined ? {} : { targets: targets.map(withoutGivenHost) }),
    ...(auth === undefined ? {} : { auth: withoutUnusedSecrets(auth) }),
    ...(access_groups === undefined || spec.private === true ? {} : { access_groups: [] }),
  };
}

const typesWithDerivedHost: readonly string[] = ['peer', 'host', 'domain'];

/** Whether the host of the backend follows from the object that the target names. */
export function hasDerivedHost({ target_type, options }: Pick<ServiceTarget, 'target_type' | 'options'>): boolean {
  return typesWithDerivedHost.includes(target_type) && options.direct_upstream !== true;
}

function withoutGivenHost(target: ServiceTarget): ServiceTarget {
  return hasDerivedHost(target) ? omitMember(target, 'host') : target;
}

/** Removes secrets of disabled sign-in methods. */
function withoutUnusedSecrets(auth: ServiceSpec['auth']): ServiceSpec['auth'] {
  const { password_auth, pin_auth, header_auths }: Partial<ServiceSpec['auth']> = auth;
  return {
    ...auth,
    ...(password_auth?.enabled === false ? { password_auth: omitMember(password_auth, 'password') } : {}),
    ...(pin_auth?.enabled === false ? { pin_auth: omitMember(pin_auth, 'pin') } : {}),
    ...(header_auths === undefined
      ? {}
      : { header_auths: header_auths.map((entry) => (entry.enabled ? entry : omitMember(entry, 'value'))) }),
  };
}

function omitMember<T extends object>(value: T, name: keyof T): T {
  // Callers only remove optional members.
  return Object.fromEntries(Object.entries(value).filter(([member]) => member !== name)) as T;
}
