import { reasonOf } from '../../../kubernetes/errors.ts';
import type { Resource } from '../../../kubernetes/resource.ts';
import { type JsonObject, membersOf } from '../../../lib/json.ts';
import type { Problem } from '../../../model/problem.ts';
import { isSecretName } from '../../../model/schema/values.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import { outputSecretAnnotation } from '../../../plan/documents/annotations.ts';
import { renewBeforeAnnotation } from '../../../plan/documents/renewal.ts';
import type { UnreadOutputs } from '../../config/plans/outputs.ts';
import type { Cluster } from './cluster.ts';
import type { Stated } from './stated-resources.ts';

/** What is made for the objects of a source, until it is where it belongs. */
export interface OutputStore {
  unread(): Promise<ReadonlyMap<string, UnreadOutputs>>;
  settle(object: string, unread: UnreadOutputs): Promise<void>;
}

/** The Secrets of a namespace that hold what was made for objects. */
export interface OutputSecretsOptions {
  readonly cluster: Pick<Cluster, 'secrets'>;
  readonly namespace: string;
  readonly apiVersion: string;
  readonly outputs: OutputStore;
  /** Where machines and people reach the service, if that is known; it is written beside what was made. */
  readonly managementUrl?: string | undefined;
}

/** A resource with its object. */
export interface StatedObject extends Stated {
  readonly file: string;
  readonly object: StoredObject;
  /** What is made for objects of its kind, by the names of the keys in a Secret. */
  readonly outputs: readonly string[];
  /** When that ends, ISO 8601. */
  readonly expires?: string | undefined;
}

/** The Secret of a resource, or why it does not hold what it should. */
export type OutputSecret = { readonly name: string } & (
  | { readonly problem?: undefined }
  | { readonly problem: Problem }
);

/** What says in a Secret for which object its values were made. */
const objectAnnotation = 'heddle.dev/object';

/** When the values end, for people and tools; absent where they do not. */
const expiresAnnotation = 'heddle.dev/expires';

const managedBy = { 'app.kubernetes.io/managed-by': 'heddle' };

/** Whether what is made for the object of a resource goes to a Secret. */
export function outputSecretOf({ resource }: Pick<Stated, 'resource'>): string | undefined {
  const name = resource.metadata.annotations?.[outputSecretAnnotation];
  return name !== undefined && isSecretName(name) ? name : undefined;
}

/** Whether what is made for the object of a resource is made again before it ends, or when it is lost. */
function isRenewing({ resource, expires }: StatedObject): boolean {
  return expires !== undefined && resource.metadata.annotations?.[renewBeforeAnnotation] !== undefined;
}

/** The files of resources whose values nobody has any more, and that want others in their place, if there are any. */
export function lostOutputs(
  stated: readonly StatedObject[],
  secrets: ReadonlyMap<string, OutputSecret>,
): ReadonlySet<string> | undefined {
  const lost = stated.filter((one) => isRenewing(one) && secrets.get(one.file)?.problem?.code === 'output_secret_gone');
  return lost.length === 0 ? undefined : new Set(lost.map(({ file }) => file));
}

/**
 * Writes what was made for objects to the Secrets that their resources name, and only then notes that it was read: whatever
 * happens in between, it is written again. Returns by file what each Secret holds now. Does not throw.
 */
export async function writeOutputSecrets(
  options: OutputSecretsOptions,
  stated: readonly StatedObject[],
): Promise<ReadonlyMap<string, OutputSecret>> {
  const named = stated.filter((one) => one.outputs.length > 0 && outputSecretOf(one) !== undefined);
  if (!options.cluster.secrets.mayWrite || named.length === 0) return new Map();
  const unread = await options.outputs.unread().catch((error: unknown) => reasonOf(error));
  const results = await Promise.all(
    named.map(async (one): Promise<readonly [string, OutputSecret]> => {
      const name = outputSecretOf(one) ?? '';
      if (typeof unread === 'string') return [one.file, { name, problem: unwritten(one, name, unread) }];
      return [one.file, await writeOne(options, one, name, unread.get(one.object.id))];
    }),
  );
  return new Map(results);
}

async function writeOne(
  options: OutputSecretsOptions,
  one: StatedObject,
  name: string,
  unread: UnreadOutputs | undefined,
): Promise<OutputSecret> {
  const { cluster, namespace, outputs } = options;
  try {
    const found = await cluster.secrets.read(namespace, name);
    if (found !== undefined && !isOf(found, one)) return { name, problem: taken(options, one, name) };
    if (unread === undefined && !isHeldIn(found, one)) return { name, problem: gone(options, one, name) };
    const members = secretMembers(options, one, unread);
    if (found === undefined) await cluster.secrets.create(namespace, newSecret(options, one, name, members));
    else if (!holds(found, members)) await cluster.secrets.patch(namespace, name, changeOf(found, members));
    if (unread !== undefined) await outputs.settle(one.object.id, unread);
    return { name };
  } catch (error) {
    return { name, problem: unwritten(one, name, withoutValues(reasonOf(error), unread)) };
  }
}

/** The Secret is one that was written for this very resource. */
function isOf({ metadata }: Resource, { resource }: StatedObject): boolean {
  const { labels = {}, ownerReferences = [] } = metadata;
  return (
    Object.entries(managedBy).every(([label, value]) => labels[label] === value) &&
    ownerReferences.some(({ uid }) => uid === resource.metadata.uid)
  );
}

/** What was made for the object is there. */
function isHeldIn(secret: Resource | undefined, { object, outputs }: StatedObject): boolean {
  const data = membersOf(secret?.data);
  return (
    secret?.metadata.annotations?.[objectAnnotation] === object.id && outputs.every((key) => Object.hasOwn(data, key))
  );
}

/** What is ours in a Secret. */
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

function holds({ metadata, data }: Resource, members: SecretMembers): boolean {
  const held = membersOf(data);
  return (
    Object.entries(members.annotations).every(([name, value]) => metadata.annotations?.[name] === value) &&
    Object.entries(members.data).every(([key, value]) => held[key] === value)
  );
}

/** The owner takes the Secret along when it is deleted: Kubernetes sees to that. */
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
    metadata: { name, namespace, labels: managedBy, annotations, ownerReferences },
    data,
  };
}

/** The version makes it a conflict when the Secret is another one by now. */
function changeOf({ metadata }: Resource, { annotations, data }: SecretMembers): JsonObject {
  const { uid, resourceVersion } = metadata;
  return { metadata: { uid, resourceVersion, annotations }, data };
}

function withoutValues(reason: string, unread: UnreadOutputs | undefined): string {
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

function unwritten(one: StatedObject, name: string, reason: string): Problem {
  const message = `what was made for it cannot be written to the Secret \`${name}\`: ${reason}; it is tried again`;
  return problemOf(one, 'output_secret_unwritten', message);
}

function taken({ namespace }: OutputSecretsOptions, one: StatedObject, name: string): Problem {
  const message = `the Secret \`${name}\` of the namespace ${namespace} was not made for this resource, and is left as it is; name another one in \`${outputSecretAnnotation}\`, or delete that Secret`;
  return problemOf(one, 'output_secret_taken', message);
}

function gone({ namespace }: OutputSecretsOptions, one: StatedObject, name: string): Problem {
  const way = isRenewing(one)
    ? 'another value is made'
    : `delete the resource and make it again to get another value, or let \`${renewBeforeAnnotation}\` make one`;
  const message = `the namespace ${namespace} has no Secret \`${name}\` with what was made for this resource, and that was shown once already; ${way}`;
  return problemOf(one, 'output_secret_gone', message);
}
