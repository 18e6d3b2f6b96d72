import type { Client } from '../../../kubernetes/client.ts';
import { unlessAbsent } from '../../../kubernetes/errors.ts';
import { createPacer } from '../../../kubernetes/pacer.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { SecretUse } from '../../../model/sources/kubernetes.ts';

/** The Secrets of a cluster, as far as its settings permit. All of it throws `ApiError`, `Unreachable`. */
export interface SecretAccess {
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
  /** A Secret as it is now; `undefined`: there is none. */
  read(namespace: string, name: string): Promise<Resource | undefined>;
  /** Creates a Secret; one that is there already is a conflict. */
  create(namespace: string, secret: JsonObject): Promise<Resource>;
  /** Changes members of a Secret. */
  patch(namespace: string, name: string, members: JsonObject): Promise<Resource>;
}

/** The Services of a cluster, as far as its settings permit. */
export interface ServiceAccess {
  readonly mayRead: boolean;
  /** A Service as it is now; `undefined`: there is none. Throws `ApiError`, `Unreachable`. */
  read(namespace: string, name: string): Promise<Resource | undefined>;
}

/** So many requests of one sort are under way at once, and so many begin a second. */
const pace = { atOnce: 16, perSecond: 50 };

/** Asks for Secrets one by one: they are neither listed nor watched. */
export function createSecretAccess(
  client: Pick<Client, 'get' | 'create' | 'patch'>,
  { read = false, write = false }: SecretUse,
): SecretAccess {
  const pacer = createPacer(pace);
  const listOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;
  return {
    mayRead: read,
    mayWrite: write,
    read: (namespace, name) => pacer.run(() => unlessAbsent(client.get(`${listOf(namespace)}/${name}`))),
    create: (namespace, secret) => pacer.run(() => client.create(listOf(namespace), secret)),
    patch: (namespace, name, members) => pacer.run(() => client.patch(`${listOf(namespace)}/${name}`, members)),
  };
}

/** Asks for Services one by one. */
export function createServiceAccess(client: Pick<Client, 'get'>, mayRead: boolean): ServiceAccess {
  const pacer = createPacer(pace);
  return {
    mayRead,
    read: (namespace, name) =>
      pacer.run(() => unlessAbsent(client.get(`/api/v1/namespaces/${namespace}/services/${name}`))),
  };
}
