import { at, type Manifest, only } from './render.ts';

/** An environment variable of a container. */
export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

/** Returns the pod spec of the only Deployment. */
export function podOf(manifests: readonly Manifest[]): unknown {
  return at(only(manifests, 'Deployment'), 'spec.template.spec');
}

/** Returns the container of the server. */
export function containerOf(manifests: readonly Manifest[]): unknown {
  return at(podOf(manifests), 'containers.0');
}

/** Returns the environment variables of the server that have a plain value. */
export function environmentOf(manifests: readonly Manifest[]): Readonly<Record<string, string>> {
  // The cast is safe: another test compares the manifest with the types of Kubernetes.
  const variables = at(containerOf(manifests), 'env') as readonly Variable[];
  return Object.fromEntries(variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

/** Yields the value and every object below it, each with its path. */
export function* objectsBelow(
  value: unknown,
  path: readonly string[] = [],
): Generator<readonly [path: readonly string[], object: Readonly<Record<string, unknown>>]> {
  if (typeof value !== 'object' || value === null) return;
  yield [path, value as Readonly<Record<string, unknown>>];
  for (const [name, member] of Object.entries(value)) yield* objectsBelow(member, [...path, name]);
}

/** Returns the names of the items in a list, sorted. */
export function namesIn(list: unknown): readonly string[] {
  return (list as readonly { readonly name: string }[]).map(({ name }) => name).sort();
}
