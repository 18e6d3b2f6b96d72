import { ApiError, reasonOf } from '../../../kubernetes/errors.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import { asObjectOrEmpty } from '../../../lib/json.ts';
import { secretOrigin } from '../../../model/lower/shape.ts';
import { isSecretName, namedValues, type SecretKeys } from '../../../model/schema/values.ts';
import type { Cluster } from './cluster.ts';
import type { StatedResource } from './stated-resources.ts';

/** Options for looking up Secrets. */
export interface SecretsOptions {
  readonly cluster: Pick<Cluster, 'secrets'>;
  readonly namespace: string;
}

type SecretKeyValue = SecretKeys extends ReadonlyMap<string, infer Value> ? Value : never;

/**
 * Reads the keys of Secrets in the same namespace that resources name, each Secret once. If a Secret does not exist or
 * may not be read, the result contains the reason for each of its keys. Throws `ApiError`, `Unreachable` when the API
 * server cannot answer.
 */
export async function readSecretKeys(options: SecretsOptions, stated: readonly StatedResource[]): Promise<SecretKeys> {
  const names = new Set(
    stated
      .flatMap(({ resource: { spec = null } }) => namedValues(spec))
      .flatMap(([, origin, name]) => (origin === secretOrigin ? [name] : [])),
  );
  const bySecret = Map.groupBy(names, (name) => name.slice(0, name.indexOf('/')));
  const found = await Promise.all(
    [...bySecret].map(async ([secret, keys]): Promise<readonly (readonly [string, SecretKeyValue])[]> => {
      const read = await readSecret(options, secret);
      return keys.map((name) => [name, 'reason' in read ? read : readKey(options, read.secret, keyNameIn(name))]);
    }),
  );
  return new Map(found.flat());
}

function keyNameIn(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

async function readSecret(
  { cluster, namespace }: SecretsOptions,
  name: string,
): Promise<{ readonly secret: Resource } | { readonly reason: string }> {
  if (!cluster.secrets.mayRead) return { reason: disabledHint };
  if (!isSecretName(name)) return { reason: `\`${name}\` is not a valid name of a Secret; correct it` };
  try {
    const secret = await cluster.secrets.read(namespace, name);
    if (secret !== undefined) return { secret };
    return { reason: `the namespace ${namespace} has no Secret \`${name}\`; create it, and it is read automatically` };
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    const way = 'give the server the right to get Secrets there';
    return {
      reason: `the Secret \`${name}\` of the namespace ${namespace} cannot be read: ${reasonOf(error)}; ${way}`,
    };
  }
}

const disabledHint =
  'the server reads no Secrets of this cluster; its operator permits it by `secrets: { read: true }` in the settings of the cluster, or `kubernetes.secrets.read` of the chart';

/** Types of Secrets that give access to the cluster itself, or contain a release. No document needs them. */
const foreignTypes: ReadonlySet<string> = new Set([
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  'helm.sh/release.v1',
]);

/**
 * Returns the value of a key as text, without a line end at its end, as for files. A reason never contains what was
 * read.
 */
function readKey({ namespace }: SecretsOptions, { metadata, data, type = '' }: Resource, key: string): SecretKeyValue {
  const where = `the Secret \`${metadata.name}\` of the namespace ${namespace}`;
  if (foreignTypes.has(type)) return { reason: `${where} has the type ${type}, which documents may not use` };
  const keys = asObjectOrEmpty(data);
  const encoded = Object.hasOwn(keys, key) ? keys[key] : undefined;
  if (encoded === undefined) return { reason: `${where} has no key \`${key}\`; add it, and it is read automatically` };
  const text = typeof encoded === 'string' ? decode(encoded) : undefined;
  if (text === undefined) return { reason: `the key \`${key}\` of ${where} is not UTF-8 text; write a text there` };
  const value = text.replace(/\r?\n$/, '');
  return value === '' ? { reason: `the key \`${key}\` of ${where} is empty; write a value there` } : { value };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(encoded: string): string | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  // `from` skips characters that are not base64.
  if (bytes.toString('base64') !== encoded) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
