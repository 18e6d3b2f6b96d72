import { reasonOf } from '../../../kubernetes/errors.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import { asObjectOrEmpty, type JsonObject } from '../../../lib/json.ts';
import type { Problem } from '../../../model/problem.ts';
import { isSecretName } from '../../../model/schema/values.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import { outputSecretAnnotation } from '../../../plan/documents/annotations.ts';
import { renewBeforeAnnotation } from '../../../plan/documents/renewal.ts';
import type { UnreadOutputs } from '../../config/plans/outputs.ts';
import type { Cluster } from './cluster.ts';
import type { StatedResource } from './stated-resources.ts';

/** Values that were generated for objects of a source, kept until they are delivered. */
export interface OutputStore {
  readUnread(): Promise<ReadonlyMap<string, UnreadOutputs>>;
  markDelivered(object: string, unread: UnreadOutputs): Promise<void>;
}

/** Options for the Secrets of a namespace that contain values generated for objects. */
export interface OutputSecretsOptions {
  readonly cluster: Pick<Cluster, 'secrets'>;
  readonly namespace: string;
  readonly apiVersion: string;
  readonly outputs: OutputStore;
  /**
   * URL at which machines and people reach this service, if it is configured. It is written to the Secret together with
   * the values.
   */
  readonly managementUrl?: string | undefined;
}

/** A resource with its object. */
export interface StatedObject extends StatedResource {
  readonly file: string;
  readonly object: StoredObject;
  /** Names of the values that are generated for objects of this kind, which are the keys in a Secret. */
  readonly outputs: readonly string[];
  /** Time at which the values expire, in ISO 8601. Absent: they do not expire. */
  readonly expires?: string | undefined;
}

/** Secret of a resource, or the problem why it does not contain the values that it should. */
export type OutputSecret = { readonly name: string } & (
  | { readonly problem?: undefined }
  | { readonly problem: Problem }
);

/** Annotation of a Secret with the id of the object for which its values were generated. */
const objectAnnotation = 'heddle.dev/object';

/**
 * Annotation of a Secret with the time at which its values expire, for people and tools. Absent when they do not
 * expire.
 */
const expiresAnnotation = 'heddle.dev/expires';

const managedByLabel = { 'app.kubernetes.io/managed-by': 'heddle' };

/**
 * Returns the name of the Secret for values that are generated for the object of a resource. Returns `undefined` when
 * the resource names none.
 */
export function outputSecretOf({ resource }: Pick<StatedResource, 'resource'>): string | undefined {
  const name = resource.metadata.annotations?.[outputSecretAnnotation];
  return name !== undefined && isSecretName(name) ? name : undefined;
}

/** Whether values for the object of a resource are generated again before they expire, or when they are lost. */
function isRenewing({ resource, expires }: StatedObject): boolean {
  return expires !== undefined && resource.metadata.annotations?.[renewBeforeAnnotation] !== undefined;
}

/**
 * Returns the files of resources whose generated values are lost and must be generated again, or `undefined` when there
 * are none.
 */
export function lostOutputs(
  stated: readonly StatedObject[],
  secrets: ReadonlyMap<string, OutputSecret>,
): ReadonlySet<string> | undefined {
  const lost = stated.filter((one) => isRenewing(one) && secrets.get(one.file)?.problem?.code === 'output_secret_gone');
  return lost.length === 0 ? undefined : new Set(lost.map(({ file }) => file));
}

/**
 * Writes generated values to the Secrets that the resources name, and only then marks the values as read. So after a
 * failure between the two, they are written again. Returns the Secret of each resource, by file. Does not throw.
 */
export async function writeOutputSecrets(
  options: OutputSecretsOptions,
  stated: readonly StatedObject[],
): Promise<ReadonlyMap<string, OutputSecret>> {
  const named = stated.filter((one) => one.outputs.length > 0 && outputSecretOf(one) !== undefined);
  if (!options.cluster.secrets.mayWrite || named.length === 0) return new Map();
  const unread = await options.outputs.readUnread().catch((error: unknown) => reasonOf(error));
  const results = await Promise.all(
    named.map(async (one): Promise<readonly [string, OutputSecret]> => {
      const name = outputSecretOf(one) ?? '';
      if (typeof unread === 'string') return [one.file, { name, problem: unwrittenProblem(one, name, unread) }];
      return [one.file, await writeOutputSecret(options, one, name, unread.get(one.object.id))];
    }),
  );
  return new Map(results);
}

async function writeOutputSecret(
  options: OutputSecretsOptions,
  one: StatedObject,
  name: string,
  unread: UnreadOutputs | undefined,
): Promise<OutputSecret> {
  const { cluster, namespace, outputs } = options;
  try {
    const found = await cluster.secrets.read(namespace, name);
    if (found !== undefined && !isWrittenFor(found, one)) return { name, problem: takenProblem(options, one, name) };
    if (unread === undefined && !hasOutputs(found, one)) return { name, problem: goneProblem(options, one, name) };
    const members = secretMembers(options, one, unread);
    if (found === undefined) await cluster.secrets.create(namespace, newSecret(options, one, name, members));
    else if (!hasMembers(found, members)) await cluster.secrets.patch(namespace, name, patchOf(found, members));
    if (unread !== undefined) await outputs.markDelivered(one.object.id, unread);
    return { name };
  } catch (error) {
    return { name, problem: unwrittenProblem(one, name, redactValues(reasonOf(error), unread)) };
  }
}

/** Whether the Secret was written for exactly this resource. */
function isWrittenFor({ metadata }: Resource, { resource }: StatedObject): boolean {
  const { labels = {}, ownerReferences = [] } = metadata;
  return (
    Object.entries(managedByLabel).every(([label, value]) => labels[label] === value) &&
    ownerReferences.some(({ uid }) => uid === resource.metadata.uid)
  );
}

/** Whether the Secret contains the values that were generated for the object. */
function hasOutputs(secret: Resource | undefined, { object, outputs }: StatedObject): boolean {
  const data = asObjectOrEmpty(secret?.data);
  return (
    secret?.metadata.annotations?.[objectAnnotation] === object.id && outputs.every((key) => Object.hasOwn(data, key))
  );
}

/** The members of a Secret that this server writes. */
interface SecretMembers {
  readonly annotations: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
}

function secretMembers(
  { managementUrl }: OutputSecretsOptions,
  { object, expires }: StatedObject,
  unread: UnreadOutputs | undefined,
): SecretMembers {
  const texts = { ...unread?.values, ...(managementUrl === undefined ? {} : { management_url: managementUrl }) };
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
  return {
    annotations: { [objectAnnotation]: object.id, ...(expires === undefined ? {} : { [expiresAnnotation]: expires }) },
    data: Object.fromEntries(data),
  };
}

function hasMembers({ metadata, data }: Resource, members: SecretMembers): boolean {
  const held = asObjectOrEmpty(data);
  return (
    Object.entries(members.annotations).every(([name, value]) => metadata.annotations?.[name] === value) &&
    Object.entries(members.data).every(([key, value]) => held[key] === value)
  );
}

/** Returns a new Secret. Kubernetes deletes it together with its owner, the resource. */
function newSecret(
  { apiVersion, namespace }: OutputSecretsOptions,
  { kind, resource }: StatedObject,
  name: string,
  { annotations, data }: SecretMembers,
): JsonObject {
  const { name: owner, uid } = resource.metadata;
  const ownerReferences = [{ apiVersion, kind: kind.kind, name: owner, uid }];
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque' },
    metadata: { name, namespace, labels: managedByLabel, annotations, ownerReferences },
    data,
  };
}

/**
 * Returns a patch for a Secret. The version makes the patch fail with a conflict when the Secret has changed since it
 * was read.
 */
function patchOf({ metadata }: Resource, { annotations, data }: SecretMembers): JsonObject {
  const { uid, resourceVersion } = metadata;
  return { metadata: { uid, resourceVersion, annotations }, data };
}

function redactValues(reason: string, unread: UnreadOutputs | undefined): string {
  const values = Object.values(unread?.values ?? {});
  return [...values, ...values.map((value) => Buffer.from(value).toString('base64'))].reduce(
    (text, value) => text.replaceAll(value, '…'),
    reason,
  );
}

function problemOf({ kind, object, file }: StatedObject, code: Problem['code'], message: string): Problem {
  return {
    ...{ code, message, file, line: 1, kind: kind.kind, key: object.key },
    path: `/metadata/annotations/${outputSecretAnnotation.replace('/', '~1')}`,
  };
}

function unwrittenProblem(one: StatedObject, name: string, reason: string): Problem {
  const message = `the generated values cannot be written to the Secret \`${name}\`: ${reason}; it is tried again`;
  return problemOf(one, 'output_secret_unwritten', message);
}

function takenProblem({ namespace }: OutputSecretsOptions, one: StatedObject, name: string): Problem {
  const message = `the Secret \`${name}\` of the namespace ${namespace} was not created for this resource and is not changed; name another one in \`${outputSecretAnnotation}\`, or delete that Secret`;
  return problemOf(one, 'output_secret_taken', message);
}

function goneProblem({ namespace }: OutputSecretsOptions, one: StatedObject, name: string): Problem {
  const way = isRenewing(one)
    ? 'a new value is generated'
    : `delete the resource and create it again to get a new value, or let \`${renewBeforeAnnotation}\` generate one`;
  const message = `the namespace ${namespace} has no Secret \`${name}\` with the generated values of this resource, which were shown once already; ${way}`;
  return problemOf(one, 'output_secret_gone', message);
}
