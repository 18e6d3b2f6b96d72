import type { Client } from '../../../kubernetes/client.ts';
import { ignoreNotFound } from '../../../kubernetes/errors.ts';
import { createPacer } from '../../../kubernetes/pacer.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { SecretUse } from '../../../model/sources/kubernetes.ts';

/** Access to the Secrets of a cluster, as far as its settings permit. All methods throw `ApiError`, `Unreachable`. */
export interface SecretAccess {
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
  /** Reads a Secret from the API server. Returns `undefined` when it does not exist. */
  read(namespace: string, name: string): Promise<Resource | undefined>;
  /** Creates a Secret. Fails with a conflict when it exists already. */
  create(namespace: string, secret: JsonObject): Promise<Resource>;
  /** Changes members of a Secret. */
  patch(namespace: string, name: string, members: JsonObject): Promise<Resource>;
}

/** Access to the Services of a cluster, as far as its settings permit. */
export interface ServiceAccess {
  readonly mayRead: boolean;
  /**
   * Reads a Service from the API server. Returns `undefined` when it does not exist. Throws `ApiError`, `Unreachable`.
   */
  read(namespace: string, name: string): Promise<Resource | undefined>;
}

/** Maximum number of requests in flight, and maximum number that start per second, for Secrets and Services each. */
const pace = { atOnce: 16, perSecond: 50 };

/** Creates the access to Secrets. They are read one by one, and never listed or watched. */
export function createSecretAccess(
  client: Pick<Client, 'get' | 'create' | 'patch'>,
  { read = false, write = false }: SecretUse,
): SecretAccess {
  const pacer = createPacer(pace);
  const listOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;
  return {
    mayRead: read,
    mayWrite: write,
    read: (namespace, name) => pacer.run(() => ignoreNotFound(client.get(`${listOf(namespace)}/${name}`))),
    create: (namespace, secret) => pacer.run(() => client.create(listOf(namespace), secret)),
    patch: (namespace, name, members) => pacer.run(() => client.patch(`${listOf(namespace)}/${name}`, members)),
  };
}

/** Creates the access to Services, which are read one by one. */
export function createServiceAccess(client: Pick<Client, 'get'>, mayRead: boolean): ServiceAccess {
  const pacer = createPacer(pace);
  return {
    mayRead,
    read: (namespace, name) =>
      pacer.run(() => ignoreNotFound(client.get(`/api/v1/namespaces/${namespace}/services/${name}`))),
  };
}
