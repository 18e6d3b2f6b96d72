import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { PlanEnvironment } from '../declare/plan-environment.ts';
import { secretOrigin, valueOrigins } from '../lower/shape.ts';
import type { ValueUse } from './value-policy.ts';

/**
 * Values sent together with pushed documents, by the names that documents use: `env:HEDDLE_VALUE_X`, `file:dir/name`.
 */
export type PushedValues = Readonly<Record<string, string>>;

/**
 * Keys of Kubernetes Secrets that resources of the same namespace refer to, by `name/key`: the value, or the reason why
 * it is unavailable. Read together with the resources, and never stored.
 */
export type SecretKeys = ReadonlyMap<string, { readonly value: string } | { readonly reason: string }>;

/** Access of a cluster source to the Kubernetes Secrets next to its resources. */
export interface ClusterSecrets {
  readonly keys: SecretKeys;
  /** Whether the source may write Secrets with values that the server generates for objects. */
  readonly mayWrite: boolean;
}

/** Whether the Kubernetes API server accepts a text as the name of a Service. */
export function isServiceName(text: string): boolean {
  return /^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
}

/**
 * Whether the Kubernetes API server accepts a text as the name of a Secret. Any other text in the request path would
 * address something else.
 */
export function isSecretName(text: string): boolean {
  return /^(?=.{1,253}$)[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text);
}

const prefixes: Readonly<Record<string, string>> = { envRef: 'env:', fileRef: 'file:', [secretOrigin]: 'secret:' };

/** Returns the name of a value in the form that pushes use; `undefined` for an unknown origin. */
function pushedNameOf(origin: string, name: string): string | undefined {
  const prefix = prefixes[origin];
  return prefix === undefined ? undefined : `${prefix}${name}`;
}

/** Whether documents may name an environment variable: only variables that begin with `HEDDLE_VALUE_`. */
export function isValueVariable(name: string): boolean {
  return name.startsWith('HEDDLE_VALUE_');
}

/**
 * Returns every value that a spec names with `valueFrom`: the name in the form that pushes use, the origin, and the
 * name in the document.
 */
export function namedValues(spec: Json): readonly (readonly [pushed: string, origin: string, name: string])[] {
  if (Array.isArray(spec)) return spec.flatMap(namedValues);
  if (!isObject(spec)) return [];
  const { valueFrom, ...others } = spec as JsonObject;
  if (!isObject(valueFrom) || Object.keys(others).length > 0) return Object.values(spec).flatMap(namedValues);
  return [...valueOrigins, secretOrigin].flatMap((origin) => {
    const name = nameInValueFrom(valueFrom[origin]);
    const pushed = name === undefined ? undefined : pushedNameOf(origin, name);
    return name === undefined || pushed === undefined ? [] : [[pushed, origin, name] as const];
  });
}

/** Returns the name inside a `valueFrom` as one text: `name/key` for a key of a Secret. */
export function nameInValueFrom(named: Json | undefined): string | undefined {
  if (!isObject(named)) return typeof named === 'string' ? named : undefined;
  const { name, key } = named;
  return typeof name === 'string' && typeof key === 'string' ? `${name}/${key}` : undefined;
}

/** Message for a document outside of a cluster that names a key of a Secret. */
export const clusterHint =
  'only resources in a cluster may name a Secret; name a variable by `envRef` or a file by `fileRef`';

const noClusterFault =
  'only the values of a resource in a cluster can be written to a Secret; remove the annotation, and read the value with `heddle outputs`';

const writingOffFault =
  'the server may not write Secrets of this cluster; its operator can allow it with `secrets: { write: true }` in the settings of the cluster, or `kubernetes.secrets.write` of the chart';

/** Account and source of the documents that are planned. */
type PlannedSource = Pick<ValueUse, 'account' | 'source'>;

/**
 * Returns the environment for planning documents of a source that the server reads. It provides the server's values
 * that the source may use. `secrets`: Secrets found next to the resources of a cluster.
 */
export function environmentOfSource(
  planEnvironment: PlanEnvironment,
  { account, source }: PlannedSource,
  secrets: ClusterSecrets | undefined,
): PlanEnvironment {
  return {
    ...planEnvironment,
    outputSecretFault: secrets === undefined ? noClusterFault : secrets.mayWrite ? undefined : writingOffFault,
    valueFrom(origin, name) {
      if (origin !== secretOrigin)
        return serverValue(planEnvironment, { account, source, isPushed: false }, origin, name);
      const found = secrets?.keys.get(name);
      return found !== undefined && 'value' in found ? found.value : undefined;
    },
    unsetHint: (origin, name) =>
      origin === secretOrigin
        ? reasonOf(secrets, name)
        : `variables of the server must begin with HEDDLE_VALUE_, files must be in its directory of values, and for accounts other than the operator's HEDDLE_VALUE_GRANTS must list ${account}/${source}=${pushedNameOf(origin, name)}`,
  };
}

/**
 * Returns the environment for planning pushed documents. Values are sent with the push. The server's own values are
 * available only where that is configured, because a caller who may push could otherwise read them into the account.
 */
export function environmentOfPush(
  planEnvironment: PlanEnvironment,
  values: PushedValues,
  { account, source }: PlannedSource,
): PlanEnvironment {
  return {
    ...planEnvironment,
    outputSecretFault: noClusterFault,
    valueFrom(origin, name) {
      if (origin === 'envRef' && !isValueVariable(name)) return undefined;
      // Pushed documents are not resources of a cluster, so they have no Secrets.
      const pushed = origin === secretOrigin ? undefined : pushedNameOf(origin, name);
      const value = pushed !== undefined && Object.hasOwn(values, pushed) ? values[pushed] : undefined;
      if (value !== undefined && value !== '') return value;
      return serverValue(planEnvironment, { account, source, isPushed: true }, origin, name);
    },
    unsetHint: (origin, name) =>
      origin === secretOrigin
        ? clusterHint
        : origin === 'fileRef'
          ? `put a file ${name} into the directory that \`--values-dir\` names where \`heddle\` runs; over HTTP send it as \`values\`: {"${pushedNameOf(origin, name)}": "…"}`
          : `set it where \`heddle\` runs; over HTTP send it as \`values\`: {"${pushedNameOf(origin, name)}": "…"}. Names must begin with HEDDLE_VALUE_`,
  };
}

/** Returns one of the server's own values, `undefined` when its use is not permitted. */
function serverValue(
  planEnvironment: PlanEnvironment,
  by: Omit<ValueUse, 'value'>,
  origin: string,
  name: string,
): string | undefined {
  const value = pushedNameOf(origin, name);
  return value !== undefined && planEnvironment.mayUse({ ...by, value })
    ? planEnvironment.valueFrom(origin, name)
    : undefined;
}

function reasonOf(secrets: ClusterSecrets | undefined, name: string): string {
  const found = secrets?.keys.get(name);
  return found !== undefined && 'reason' in found ? found.reason : clusterHint;
}
