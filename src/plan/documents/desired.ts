import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { nearest } from '../../lib/nearest.ts';
import { shouldYield } from '../../lib/steps.ts';
import { canOnlyStateExisting, type Fault, type Kind } from '../../model/declare/kind.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { Document, DocumentPosition } from '../../model/document.ts';
import { maxProblems, type Problem, takeFaults } from '../../model/problem.ts';
import { canonicalStated } from '../../model/schema/normalize.ts';
import { otherFormatFaults } from '../../model/schema/validation/other-faults.ts';
import { type FindStored, noStoredValues } from '../../model/schema/validation/stored-values.ts';
import type { Validator } from '../../model/schema/validation/validator.ts';

/** One object that a source states. Inline children are separate. References are not resolved yet. */
export interface DesiredObject {
  readonly kind: Kind;
  readonly key: string;
  readonly spec: JsonObject;
  readonly position: DocumentPosition;
  /** JSON pointer of the spec in the document: `/spec`, or `/spec/records/3` for an inline child. */
  readonly pointer: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Former names of the document. Absent: none. */
  readonly aliases?: readonly string[];
  /** Key of the parent's document, or the text that refers to the parent. */
  readonly parent?: string;
}

/** Desired objects, and all problems of the documents themselves. */
export interface Expanded {
  readonly desired: readonly DesiredObject[];
  readonly problems: readonly Problem[];
  /** `Kind/key` of documents with faults. References to them are not reported as unknown. */
  readonly broken: ReadonlySet<string>;
}

interface Sink {
  readonly desired: DesiredObject[];
  readonly problems: Problem[];
  readonly broken: Set<string>;
}

/**
 * Checks every document and separates inline children from their parents. Yields regularly, so that other work can run.
 */
export function* expandDocuments(
  registry: Registry,
  validator: Validator,
  documents: readonly Document[],
  findStored: FindStored = () => noStoredValues,
): Generator<undefined, Expanded> {
  const sink: Sink = { desired: [], problems: [], broken: new Set() };
  for (const [at, document] of documents.entries()) {
    yield* expandDocument({ registry, validator, findStored }, document, sink);
    if (shouldYield(at)) yield undefined;
  }
  return sink;
}

interface Checking {
  readonly registry: Registry;
  readonly validator: Validator;
  readonly findStored: FindStored;
}

function* expandDocument(
  { registry, validator, findStored }: Checking,
  document: Document,
  sink: Sink,
): Generator<undefined, void> {
  const kind = registry.find(document.kind);
  if (kind === undefined || !kind.document.allowed) {
    sink.problems.push(problemAt(document.position, '/kind', document, kindFault(registry, document.kind, kind)));
    return;
  }
  const most = Math.max(1, maxProblems + 1 - sink.problems.length);
  const { name, previousNames = [] } = document.metadata;
  const stored = findStored(kind.name, [kind.singleton ?? name, ...previousNames]);
  const shape = validator.check(kind.name, 'document', document.spec, stored, most);
  const faults = documentFaults(registry, kind, document, { shape, most });
  if (faults.length > 0) {
    sink.broken.add(`${kind.name}/${document.metadata.name}`);
    for (const fault of takeFaults(faults, sink.problems.length))
      sink.problems.push(problemAt(document.position, '/spec', document, fault));
    return;
  }
  yield* addDesired(registry, kind, document, sink);
}

function kindFault(registry: Registry, name: string, kind: Kind | undefined): Fault {
  if (kind !== undefined && !kind.document.allowed)
    return { code: 'kind_not_declarable', path: '', message: `${name} cannot be a document: ${kind.document.why}` };
  const guess = nearest(name, documentKinds(registry));
  const hint = guess === undefined ? `known are ${documentKinds(registry).join(', ')}` : `did you mean \`${guess}\`?`;
  return { code: 'kind_unknown', path: '', message: `unknown kind \`${name.slice(0, 200)}\`; ${hint}` };
}

/** Returns the faults of a document. `most`: number of faults after which the validation of its shape stopped. */
function documentFaults(
  registry: Registry,
  kind: Kind,
  document: Document,
  { shape, most }: { readonly shape: readonly Fault[]; readonly most: number },
): readonly Fault[] {
  const faults =
    shape.length === 0
      ? []
      : [
          ...shape.map((fault) => withServiceHint(registry, kind, fault)),
          ...otherFormatFaults(kind.spec, document.spec, shape, most),
        ];
  if (kind.singleton === undefined || document.metadata.name === kind.singleton) return faults;
  return [
    {
      code: 'key_fixed',
      path: '',
      message: `there is only one ${kind.name}; its metadata.name must be \`${kind.singleton}\``,
    },
    ...faults,
  ];
}

/**
 * Adds a hint to a fault about the name of a Service. For resources in a cluster the name is replaced by an address
 * before documents are read; other documents have no Services.
 */
function withServiceHint(registry: Registry, { name, service }: Kind, fault: Fault): Fault {
  if (fault.code !== 'field_unknown') return fault;
  const serviceFields = [
    { service, list: '' },
    ...registry.inlineChildrenOf(name).map(({ child, member }) => ({ service: child.service, list: `/${member}/*` })),
  ];
  const path = fault.path.replace(/\/\d+\//, '/*/');
  const found = serviceFields.find(
    (one) => one.service !== undefined && path === `${one.list}/${one.service.member}`,
  )?.service;
  if (found === undefined) return fault;
  const message = `\`${found.member}\` names a Service, which works only for resources in a cluster; write \`${found.field}\` here`;
  return { ...fault, message };
}

/** Yields regularly, because one document may contain tens of thousands of inline children. */
function* addDesired(registry: Registry, kind: Kind, document: Document, sink: Sink): Generator<undefined, void> {
  const annotations = document.metadata.annotations ?? {};
  const base = { position: document.position, annotations };
  const inline = new Set<string>();
  for (const { child, member } of registry.inlineChildrenOf(kind.name)) {
    inline.add(member);
    const entries = document.spec[member];
    for (const [at, entry] of (Array.isArray(entries) ? entries : []).entries()) {
      if (shouldYield(at)) yield undefined;
      addChild(
        child,
        entry,
        { position: positionOfEntry(document, member, at), pointer: `/spec/${member}/${at}`, annotations: {} },
        document.metadata.name,
        document,
        sink,
      );
    }
  }
  if (kind.parent !== undefined) {
    const parent = document.spec[kind.parent.field];
    addChild(
      kind,
      withName(kind, document.spec, document),
      { ...base, pointer: '/spec' },
      String(parent),
      document,
      sink,
    );
    return;
  }
  const own = Object.fromEntries(Object.entries(document.spec).filter(([name]) => !inline.has(name)));
  const spec = withName(kind, own, document);
  const { name: key, previousNames } = document.metadata;
  const aliases = previousNames === undefined ? {} : { aliases: previousNames.filter((name) => name !== key) };
  sink.desired.push({ ...base, kind, key, spec, pointer: '/spec', ...aliases });
}

function positionOfEntry({ position, entryLines }: Document, member: string, at: number): DocumentPosition {
  return { ...position, line: entryLines?.[member]?.[at] ?? position.line };
}

function addChild(
  kind: Kind,
  spec: JsonObject,
  base: Pick<DesiredObject, 'position' | 'pointer' | 'annotations'>,
  parent: string,
  document: Document,
  sink: Sink,
): void {
  const { faults, spec: canonical } = canonicalStated(kind, spec);
  if (faults.length > 0) {
    for (const fault of takeFaults(faults, sink.problems.length))
      sink.problems.push(problemAt(base.position, base.pointer, document, fault));
    return;
  }
  const field = kind.parent?.field ?? '';
  const natural = kind.naturalKey?.(canonical) ?? '';
  const stated = Object.fromEntries(Object.entries(spec).filter(([name]) => name !== field));
  sink.desired.push({ ...base, kind, key: `${parent.replace(/^(id|name):/, '')}/${natural}`, spec: stated, parent });
}

/** Converts a fault in a document to a problem. Its `path` becomes a JSON pointer from the document's root. */
export function problemAt(
  position: DocumentPosition,
  pointer: string,
  document: { readonly kind: string; readonly metadata: { readonly name: string } },
  fault: Fault,
): Problem {
  return {
    code: fault.code,
    message: fault.message,
    kind: document.kind,
    key: document.metadata.name,
    path: `${pointer}${fault.path}`,
    file: position.file,
    line: position.line,
  };
}

/** Converts a fault in a spec to a problem with the position of the document. */
export function problemOf(desired: DesiredObject, fault: Fault): Problem {
  return problemAt(
    desired.position,
    desired.pointer,
    { kind: desired.kind.name, metadata: { name: desired.key } },
    fault,
  );
}

function documentKinds(registry: Registry): readonly string[] {
  return registry.kinds.filter((kind) => kind.document.allowed).map((kind) => kind.name);
}

/**
 * Returns the spec with `metadata.name` as its name, when it has none. Does not apply to kinds that documents do not
 * create.
 */
function withName(kind: Kind, spec: JsonObject, document: Document): JsonObject {
  if (canOnlyStateExisting(kind)) return spec;
  return 'name' in kind.spec && isUnnamed(spec['name']) ? { ...spec, name: document.metadata.name } : spec;
}

function isUnnamed(name: Json | undefined): boolean {
  return name === undefined || name === null || (typeof name === 'string' && name === '') || isObject(name);
}
