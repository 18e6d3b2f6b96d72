import type { TestReport } from '../../access/explain/tests.ts';
import { runInSlices } from '../../commit/slices.ts';
import type { DocumentInput } from '../../documents/input.ts';
import * as kinds from '../../kinds/index.ts';
import { emptyEnvironment, type PlanEnvironment } from '../../model/declare/plan-environment.ts';
import { createRegistry, type Registry } from '../../model/declare/registry.ts';
import type { Document, SourceFile } from '../../model/document.ts';
import { type Problem, shortenProblem, sortProblems } from '../../model/problem.ts';
import type { ProblemCode } from '../../model/problem-codes.ts';
import { createAcceptor } from '../../model/schema/validation/accept.ts';
import type { Validator } from '../../model/schema/validation/validator.ts';
import { environmentOfPush, isValueVariable } from '../../model/schema/values.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { StateTests } from '../../objects/access-tests.ts';
import { adoptAnnotation } from '../../plan/documents/annotations.ts';
import { expandDocuments } from '../../plan/documents/desired.ts';
import { checkDocuments } from '../../plan/documents/documents.ts';
import { checkForeignFiles } from '../../plan/documents/foreign-files.ts';
import { newSnapshot } from './account.ts';
import { readOffline } from './input.ts';
import { createPlaceholders, findExternalReferences } from './references.ts';
import { findValues, type ValueConfig } from './values.ts';

/** Result of checking documents without a server. */
export interface OfflineResult {
  readonly documents: number;
  readonly problems: readonly Problem[];
  /** References to objects that no document declares. They may exist on the server. */
  readonly warnings: readonly Problem[];
  /** Number of references to kinds that documents cannot create, such as peers. */
  readonly unchecked: number;
  /**
   * Results of the access tests. Absent when documents have faults, or refer to objects (such as groups) that they do
   * not declare.
   */
  readonly tests?: readonly TestReport[];
  /** Values that documents name and that are not available here: `env:NAME`, `file:NAME`. */
  readonly unset: readonly string[];
}

/**
 * Checks documents as a server with a new account would, but assumes that objects which they only refer to exist there.
 */
export async function checkOffline(
  files: readonly SourceFile[],
  config: ValueConfig,
  strict = false,
): Promise<OfflineResult> {
  return await readOffline(files, (input) => checkInput(input, config, strict));
}

async function checkInput(read: DocumentInput, config: ValueConfig, strict: boolean): Promise<OfflineResult> {
  const registry = createRegistry(Object.values(kinds));
  const { validator, hasRefused } = createAcceptor(registry);
  const result = await checkWith({ registry, validator }, read, config, strict);
  if (!hasRefused()) return result;
  // Imported only after a refusal: this validator describes what is wrong, but takes longer to load than everything
  // else.
  const { createValidator } = await import('../../model/schema/validation/validate.ts');
  return await checkWith({ registry, validator: createValidator(registry) }, read, config, strict);
}

interface CheckTools {
  readonly registry: Registry;
  readonly validator: Validator;
}

async function checkWith(
  { registry, validator }: CheckTools,
  read: DocumentInput,
  config: ValueConfig,
  strict: boolean,
): Promise<OfflineResult> {
  const { foreign } = read;
  const others = checkForeignFiles({ foreign, source: '', kinds: registry.names, strict, stated: () => [] });
  const input = { ...read, problems: [...read.problems, ...others.problems] };
  const values = findValues(input.documents, config);
  const checker = {
    validator,
    base: newSnapshot(registry),
    planEnvironment: {
      ...environmentOfPush(offlineEnvironment, values.found, { account: '', source: '' }),
      // The document may be a resource that will be applied to a cluster, where Secrets can be written.
      outputSecretFault: undefined,
    },
  };
  const first = await check(checker, input.documents.map(withoutAdoption));
  // Rules are not checked while a document has a fault of its own. A second check without the faulty documents reports
  // the problems of the others now.
  const second =
    first.problems.length === 0 ? first : await check(checker, withoutFaulty(input.documents, first.problems));
  const tested = input.problems.length + first.warnings.length === 0 ? await testsOf(first.next) : undefined;
  const later = uniqueProblems([...first.problems, ...second.problems, ...(tested?.failures ?? [])]);
  // When files could not be read, references to their objects would be reported by mistake.
  const warnings = input.problems.length > 0 ? [] : first.warnings;
  return {
    documents: input.documents.length,
    problems: sortProblems([...input.problems, ...(await input.locate(later))]).map(shortenProblem),
    warnings: [...others.warnings, ...(await input.locate(warnings))].map(shortenProblem),
    unchecked: first.unchecked,
    ...(tested === undefined ? {} : { tests: tested.tests }),
    unset: values.missing,
  };
}

interface CheckContext {
  readonly validator: Validator;
  readonly base: Snapshot;
  readonly planEnvironment: PlanEnvironment;
}

type CheckResult = Omit<OfflineResult, 'documents' | 'unset' | 'tests'> & {
  /** State that results from the documents. Absent when they have problems. */
  readonly next?: Snapshot;
};

/** Runs the access tests of documents that declare everything they refer to. */
async function testsOf(next: Snapshot | undefined): Promise<StateTests | undefined> {
  if (next === undefined) return undefined;
  if (next.countOf('AccessTest') === 0) return { tests: [], failures: [] };
  // Imported on demand, because it depends on all of the access code and most documents contain no tests.
  const { testState } = await import('../../objects/access-tests.ts');
  return await testState(next);
}

async function check(
  { validator, base, planEnvironment }: CheckContext,
  documents: readonly Document[],
): Promise<CheckResult> {
  const expanded = await runInSlices(expandDocuments(base.registry, validator, documents));
  const outside = findExternalReferences(base, expanded);
  const outcome = await runInSlices(
    checkDocuments({
      snapshot: base.with({ put: createPlaceholders(outside.names), remove: [] }),
      validator,
      source: 'validate',
      documents: documents.filter((document) => !outside.orphans.has(document.position)),
      prune: false,
      allowEmpty: true,
      now: '1970-01-01T00:00:00.000Z',
      newId: counter(),
      planEnvironment,
    }),
  );
  const problems = uniqueProblems([...expanded.problems, ...(outcome.ok ? [] : outcome.problems)]);
  return {
    ...{ problems, warnings: outside.warnings, unchecked: outside.unchecked },
    ...(outcome.ok && problems.length === 0 ? { next: outcome.next } : {}),
  };
}

const placeholderValue = 'dmFsdWU=';

/**
 * Rules that only the server can check: which values are free depends on objects that no document here declares, and
 * clusters, with what they support, are never documents.
 */
const uncheckedRules: ReadonlySet<ProblemCode> = new Set([
  'nothing_free',
  'service_port_unsupported',
  'service_reputation_unsupported',
]);

/**
 * Environment that assumes as much as possible: values that are not set here may be set where the documents are applied
 * (Secrets too), and the server may have every feature of an edition. Nothing that is generated here is kept.
 */
const offlineEnvironment: PlanEnvironment = {
  ...emptyEnvironment,
  placeholderValue,
  uncheckedRules,
  mayUse: () => true,
  edition: 'hosted',
  random: (bytes) => new Uint8Array(bytes),
  valueFrom: (origin, name) => (origin !== 'envRef' || isValueVariable(name) ? placeholderValue : undefined),
};

/**
 * Removes the annotation that adopts an object. The object exists only on the server, so here the document creates it.
 */
function withoutAdoption(document: Document): Document {
  const { annotations } = document.metadata;
  if (annotations?.[adoptAnnotation] === undefined) return document;
  const { [adoptAnnotation]: _, ...others } = annotations;
  return { ...document, metadata: { ...document.metadata, annotations: others } };
}

function withoutFaulty(documents: readonly Document[], problems: readonly Problem[]): readonly Document[] {
  const faulty = new Set(problems.map(({ file, line }) => `${file}:${line}`));
  return documents.filter(({ position }) => !faulty.has(`${position.file}:${position.line}`)).map(withoutAdoption);
}

function uniqueProblems(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

function counter(): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `new-${last}`;
  };
}
