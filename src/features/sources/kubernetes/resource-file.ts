import type { Resource } from '../../../kubernetes/resource.ts';
import { asObjectOrEmpty, canonicalJson, type Json } from '../../../lib/json.ts';
import type { SourceFile } from '../../../model/document.ts';

/** Kind of a resource, and its plural in the API. */
export interface ResourceKind {
  readonly kind: string;
  readonly plural: string;
  readonly service?: ServiceMember | undefined;
  /** The `service` members of children that a resource contains in the list `list`. */
  readonly childServices?: readonly (ServiceMember & { readonly list: string })[];
}

/** Member that may name a Service, instead of the field with an address. */
export interface ServiceMember {
  readonly member: string;
  readonly field: string;
}

/** Prefixes of annotations that the API server or tools use for themselves. */
const foreignAnnotations = [
  'kubectl.kubernetes.io/',
  'meta.helm.sh/',
  'argocd.argoproj.io/',
  'kustomize.toolkit.fluxcd.io/',
];

/** Returns a resource as the document file that it represents: `<namespace>/<plural>/<name>.json`. */
export function fileOf({ metadata, spec }: Resource, { kind, plural }: ResourceKind, apiVersion: string): SourceFile {
  const { name, namespace = '', labels, annotations } = metadata;
  const document = {
    ...{ apiVersion, kind },
    metadata: {
      name,
      ...optionalMember('labels', labels),
      ...optionalMember('annotations', ownAnnotations(annotations)),
    },
    ...(spec === undefined ? {} : { spec }),
  };
  return { path: pathOf({ namespace, plural, name }), text: canonicalJson(document as Json) };
}

/** Returns the path of the file that a resource represents. */
export function pathOf(at: { readonly namespace: string; readonly plural: string; readonly name: string }): string {
  return `${at.namespace}/${at.plural}/${at.name}.json`;
}

/** Returns the plural in the path of a file, or `undefined` when the path does not belong to this namespace. */
export function pluralOfPath(path: string, namespace: string): string | undefined {
  const [of, plural, file, ...more] = path.split('/');
  return of === namespace && file !== undefined && more.length === 0 ? plural : undefined;
}

/** Returns the kind and name of the resource in the path of a file, such as `Group devs`. */
export function nameOfPath(path: string, namespace: string, kinds: readonly ResourceKind[]): string {
  const plural = pluralOfPath(path, namespace);
  const kind = kinds.find((one) => one.plural === plural)?.kind ?? plural;
  return `${kind} ${path
    .split('/')
    .at(-1)
    ?.replace(/\.json$/, '')}`;
}

/**
 * Returns the part of a resource that is kept in memory. Most of what the API server sends records who changed which
 * field when.
 */
export function withoutBookkeeping(resource: Resource): Resource {
  const { metadata, apiVersion, kind, spec, status } = resource;
  const {
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    labels,
    annotations,
    creationTimestamp,
    deletionTimestamp,
  } = metadata;
  const kept = { name, namespace, uid, resourceVersion, generation, labels, creationTimestamp, deletionTimestamp };
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: {
      ...withoutUndefined(kept),
      ...optionalMember('annotations', ownAnnotations(annotations)),
    } as Resource['metadata'],
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  };
}

function ownAnnotations(
  annotations: Resource['metadata']['annotations'],
): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(annotations ?? {}).filter(
    ([name]) => !foreignAnnotations.some((prefix) => name.startsWith(prefix)),
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function optionalMember(name: string, value: object | undefined): object {
  return value === undefined ? {} : { [name]: value };
}

function withoutUndefined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Whether a definition or a namespace is being deleted, together with its contents. */
export function isTerminating({ metadata, status }: Resource): boolean {
  return metadata.deletionTimestamp !== undefined || asObjectOrEmpty(status)['phase'] === 'Terminating';
}
