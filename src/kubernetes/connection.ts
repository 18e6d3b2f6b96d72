import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Unreachable } from './errors.ts';

/** Address of an API server, and the credentials for it. */
export interface Connection {
  /** URL of the API server, without a slash at the end. */
  readonly server: string;
  /** Namespace of the service account or the kubeconfig context, if known. */
  readonly namespace: string | undefined;
  /** Returns the TLS settings and headers for one request. They may change while the connection is in use. */
  credentials(): Promise<Credentials>;
  /** To be called when the API server did not accept the credentials. They are read again for the next request. */
  discardCredentials(): void;
}

/** TLS settings and headers of a request. */
export interface Credentials {
  readonly tls: Pick<
    RequestOptions,
    'ca' | 'cert' | 'key' | 'passphrase' | 'pfx' | 'servername' | 'rejectUnauthorized'
  >;
  readonly headers: Readonly<Record<string, string>>;
}

/** Address at which the pods of a cluster reach its API server. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: string;
}

/** Folder in which a pod finds the files of its service account. */
const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Time after which the files are read again, in milliseconds. The kubelet replaces a token long before it expires;
 * other programs may replace the files at any time.
 */
const maxCacheAgeMs = 60_000;

/**
 * Connects a pod to the API server of its own cluster. Throws `Unreachable` when this process does not run in a pod
 * with a service account.
 */
export async function connectInCluster(
  address: ServiceAddress | undefined,
  folder = serviceAccountFolder,
): Promise<Connection> {
  if (address === undefined)
    throw new Unreachable(
      'this server does not run in a cluster (KUBERNETES_SERVICE_HOST is not set); name a kubeconfig file in `kubeconfigFile`',
    );
  const { host, port } = address;
  const files = createCache(async (): Promise<Credentials> => {
    const [ca, token] = await Promise.all(['ca.crt', 'token'].map((name) => readServiceAccount(folder, name)));
    return { tls: { ca }, headers: { authorization: `Bearer ${token?.trim()}` } };
  });
  await files.read();
  const namespace = await readFile(join(folder, 'namespace'), 'utf8').catch(() => undefined);
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: namespace?.trim(),
    credentials: files.read,
    discardCredentials: files.forget,
  };
}

/** Caches a value for `maxCacheAgeMs`. */
function createCache<Value>(read: (before: Value | undefined) => Promise<Value>) {
  let known: { readonly value: Value; at: number } | undefined;
  return {
    async read(): Promise<Value> {
      const isFresh = known !== undefined && performance.now() - known.at <= maxCacheAgeMs;
      if (known === undefined || !isFresh) known = { value: await read(known?.value), at: performance.now() };
      return known.value;
    },
    forget(): void {
      if (known !== undefined) known.at = Number.NEGATIVE_INFINITY;
    },
  };
}

async function readServiceAccount(folder: string, name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Unreachable(
      `the pod has no service account token (${reason}); set \`automountServiceAccountToken\`, or \`kubernetes.enabled\` of the chart`,
    );
  });
}

/**
 * Connects as a kubeconfig file describes, including exec plugins. A later change of the file is picked up. Throws
 * `Unreachable` when the file cannot be read or names no cluster.
 */
export async function connectByKubeconfig(file: string, context?: string): Promise<Connection> {
  const memory = createCache((before: Kubeconfig | undefined) => readKubeconfig(file, context, before));
  let { server, namespace } = await memory.read();
  return {
    get server() {
      return server;
    },
    get namespace() {
      return namespace;
    },
    async credentials() {
      const found = await memory.read();
      ({ server, namespace } = found);
      return found.credentials();
    },
    discardCredentials: memory.forget,
  };
}

/** Content of a kubeconfig file, and the connection that it describes. */
interface Kubeconfig extends Pick<Connection, 'server' | 'namespace' | 'credentials'> {
  readonly text: string;
}

async function readKubeconfig(
  file: string,
  context: string | undefined,
  before: Kubeconfig | undefined,
): Promise<Kubeconfig> {
  const unreadable = (error: unknown) =>
    new Unreachable(`the kubeconfig file ${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(error);
  });
  // The former `KubeConfig` caches the credentials of exec plugins until they expire.
  if (text === before?.text) return before;
  // Imported here because the library is large, and only kubeconfig files need it.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    config.loadFromFile(file);
  } catch (error) {
    throw unreadable(error);
  }
  const names = config.getContexts().map(({ name }) => name);
  if (context !== undefined) {
    if (!names.includes(context))
      throw new Unreachable(`${file} has no context ${context}; it has ${names.join(', ') || 'none'}`);
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw new Unreachable(`${file} has no cluster in its current context; name another of its contexts in \`context\``);
  return {
    text,
    server: cluster.server.replace(/\/+$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    async credentials() {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      const { ca, cert, key, passphrase, pfx, servername, rejectUnauthorized, headers, auth } = options;
      const basic = typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
      return {
        tls: withoutUndefined({ ca, cert, key, passphrase, pfx, servername, rejectUnauthorized }),
        headers: { ...basic, ...textHeaders(headers) },
      };
    },
  };
}

function textHeaders(headers: RequestOptions['headers']): Readonly<Record<string, string>> {
  const entries = Object.entries(headers ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

function withoutUndefined(
  tls: { readonly [Name in keyof Credentials['tls']]: Credentials['tls'][Name] | undefined },
): Credentials['tls'] {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}
