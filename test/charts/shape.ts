import { at, type Manifest, only } from './render.ts';

/** A variable of a container. */
export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

/** The pod that a Deployment makes. */
export function podOf(manifests: readonly Manifest[]): unknown {
  return at(only(manifests, 'Deployment'), 'spec.template.spec');
}

/** The container of the server. */
export function containerOf(manifests: readonly Manifest[]): unknown {
  return at(podOf(manifests), 'containers.0');
}

/** The variables of the server that have a plain value. */
export function environmentOf(manifests: readonly Manifest[]): Readonly<Record<string, string>> {
  // The types of Kubernetes were compared with the manifest by another test.
  const variables = at(containerOf(manifests), 'env') as readonly Variable[];
  return Object.fromEntries(variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

/** Every object below a value, with the path that leads there. */
export function* objectsBelow(
  value: unknown,
  path: readonly string[] = [],
): Generator<readonly [path: readonly string[], object: Readonly<Record<string, unknown>>]> {
  if (typeof value !== 'object' || value === null) return;
  yield [path, value as Readonly<Record<string, unknown>>];
  for (const [name, member] of Object.entries(value)) yield* objectsBelow(member, [...path, name]);
}

/** The names in a list of named things, in order. */
export function namesIn(list: unknown): readonly string[] {
  return (list as readonly { readonly name: string }[]).map(({ name }) => name).sort();
}
