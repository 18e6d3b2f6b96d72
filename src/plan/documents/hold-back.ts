import type { Document } from '../../model/document.ts';
import { type Problem, shortenProblem, sortProblems } from '../../model/problem.ts';
import { mentionsOf } from '../../model/schema/references.ts';
import type { HeldBackFile, PlanOutcome } from '../plan.ts';
import { planDocuments } from './documents.ts';
import type { DocumentsInput } from './stated-object.ts';

/** Reasons for holding files back, by path. */
type HeldFiles = ReadonlyMap<string, readonly Problem[]>;

/**
 * Plans the documents that can be applied. A file with a problem is held back, and so are files whose documents refer
 * to its objects; their objects keep their last applied state. The other files are planned as if they were the only
 * ones. Problems that belong to no file are refused as usual. `unread`: problems from reading the files.
 */
export function* planHoldingBack(input: DocumentsInput, unread: readonly Problem[]): Generator<undefined, PlanOutcome> {
  const first = groupByFile(unread);
  if (first === undefined) return { ok: false, problems: sortProblems(unread) };
  let held: HeldFiles = withReferringFiles(input, first);
  while (true) {
    const outcome = yield* planDocuments(withoutHeldFiles(input, held));
    if (outcome.ok) return held.size === 0 ? outcome : withHeld(outcome, held);
    const found = groupByFile(outcome.problems);
    const refused = { ...outcome, problems: sortProblems([...unread, ...outcome.problems]) };
    if (found === undefined) return refused;
    const next = withReferringFiles(input, new Map([...found, ...held]));
    if (next.size === held.size) return refused;
    held = next;
  }
}

function withHeld(outcome: Extract<PlanOutcome, { readonly ok: true }>, held: HeldFiles): PlanOutcome {
  const heldBack = [...held].map(
    ([file, problems]): HeldBackFile => ({ file, problems: problems.map(shortenProblem) }),
  );
  heldBack.sort((a, b) => (a.file < b.file ? -1 : 1));
  return { ...outcome, plan: { ...outcome.plan, heldBack } };
}

function withoutHeldFiles(input: DocumentsInput, held: HeldFiles): DocumentsInput {
  if (held.size === 0) return input;
  const { since: _, ...whole } = input;
  return {
    ...whole,
    documents: input.documents.filter(({ position }) => !held.has(position.file)),
    heldFiles: new Set(held.keys()),
  };
}

/** Groups the problems by file. Returns `undefined` when one of them belongs to no file. */
function groupByFile(problems: readonly Problem[]): Map<string, readonly Problem[]> | undefined {
  const files = new Map<string, Problem[]>();
  for (const problem of problems) {
    if (problem.file === undefined) return undefined;
    const others = files.get(problem.file);
    if (others === undefined) files.set(problem.file, [problem]);
    else others.push(problem);
  }
  return files;
}

/** Adds the files whose documents refer to objects of held files, transitively. */
function withReferringFiles(input: DocumentsInput, held: HeldFiles): HeldFiles {
  if (held.size === 0) return held;
  const { snapshot, source, documents } = input;
  const registry = snapshot.registry;
  const names = new Map<string, string>();
  const note = (kind: string, key: string, file: string) => void names.set(`${kind}/${key}`, file);
  // For files that cannot be read, the objects that were applied last are used.
  for (const { kind, key = '', declared } of snapshot.declaredBy(source))
    for (const by of declared) if (by.source === source && held.has(by.file)) note(kind, key, by.file);
  for (const { kind, metadata, position } of documents)
    if (held.has(position.file)) note(kind, metadata.name, position.file);
  const all = new Map(held);
  let isNew = true;
  while (isNew) {
    isNew = false;
    for (const document of documents) {
      const { kind, metadata, position } = document;
      const fields = registry.find(kind)?.spec;
      if (all.has(position.file) || fields === undefined) continue;
      const to = mentionsOf(fields, document.spec).find(({ kind: of, text }) => names.has(`${of}/${text}`));
      if (to === undefined) continue;
      isNew = true;
      note(kind, metadata.name, position.file);
      all.set(position.file, [
        heldProblem(document, `/spec${to.pointer}`, `${to.kind} ${to.text}`, names.get(`${to.kind}/${to.text}`) ?? ''),
      ]);
    }
  }
  return all;
}

function heldProblem({ kind, metadata, position }: Document, path: string, name: string, file: string): Problem {
  const message = `it refers to ${name}, which is held back because of problems in ${file}; it keeps its last applied state until they are corrected`;
  return {
    code: 'reference_held_back',
    kind,
    key: metadata.name,
    path,
    file: position.file,
    line: position.line,
    message,
  };
}
