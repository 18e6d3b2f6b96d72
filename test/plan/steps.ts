import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { PlanEnvironment } from '../../src/model/declare/plan-environment.ts';
import type { Document } from '../../src/model/document.ts';
import type { Problem } from '../../src/model/problem.ts';
import { isEmpty } from '../../src/model/schema/field.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import type { FileRules } from '../../src/model/sources/file-rules.ts';
import { defaultSettings, type SourceSettings } from '../../src/model/sources/settings.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { type CheckOutcome, checkDocuments, planDocuments } from '../../src/plan/documents/documents.ts';
import { planHoldingBack } from '../../src/plan/documents/hold-back.ts';
import type { RequestedOptions } from '../../src/plan/options.ts';
import type { PendingClaim } from '../../src/plan/ownership/claims-of-others.ts';
import { type Plan, type PlanOutcome, subjectOf } from '../../src/plan/plan.ts';
import type { BreakGlass } from '../../src/plan/requests/break-glass.ts';
import {
  planCreate,
  planDelete,
  planReplace,
  type RequestContext,
  type RequestOutcome,
} from '../../src/plan/requests/requests.ts';
import { viewPlan } from '../../src/plan/view/view.ts';
import { account, all, peer, registry, stateOf } from '../kinds/objects.ts';

const validator = createValidator(registry);

export const now = '2026-03-01T10:00:00.000Z';

/** State of a new account with three peers: `p1`, `p2`, `p3`. */
export const office = stateOf(
  all,
  { ...account(), key: 'account' },
  peer('p1', '100.72.0.1'),
  peer('p2', '100.72.0.2'),
  peer('p3', '100.72.0.3'),
);

/** Options for planning documents that differ from the defaults. */
export interface Options extends RequestedOptions {
  /** Prefix of new ids. */
  readonly ids?: string;
  /** The documents that were applied last. The planned state must be exactly their result. */
  readonly since?: readonly Document[];
  readonly force?: boolean;
  readonly claimed?: readonly PendingClaim[];
  /** Time of the plan, in ISO 8601. */
  readonly now?: string;
  readonly planEnvironment?: PlanEnvironment;
  readonly rules?: readonly FileRules[];
}

export function document(
  kind: string,
  name: string,
  spec: JsonObject = {},
  more: {
    readonly file?: string;
    readonly line?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly previousNames?: readonly string[];
  } = {},
): Document {
  const { file = `${kind.toLowerCase()}.yaml`, line = 1, ...metadata } = more;
  return {
    kind,
    metadata: { name, ...metadata },
    spec,
    position: { file, line, index: 0, pointer: '' },
  };
}

/** Returns a policy document with one rule, from one list of groups to another. */
export function allow(
  name: string,
  sources: readonly string[],
  destinations: readonly string[],
  more: JsonObject = {},
): Document {
  return document('Policy', name, {
    rules: [{ name: 'main', action: 'accept', protocol: 'all', sources, destinations }],
    ...more,
  });
}

/** Plans the documents of a source on a state. */
export function planOn(
  state: Snapshot,
  source: string,
  documents: readonly Document[],
  options: Options = {},
): PlanOutcome {
  return run(planningOn(state, source, documents, options));
}

/** Plans the documents of a source in steps: the generator yields now and then. */
export function planningOn(
  state: Snapshot,
  source: string,
  documents: readonly Document[],
  options: Options = {},
): Generator<undefined, PlanOutcome> {
  const { ids, since, ...more } = options;
  return planDocuments({
    ...(since === undefined ? {} : { since }),
    snapshot: state,
    validator: validatorOf(state),
    source,
    documents,
    now,
    newId: idsOn(state, ids),
    ...more,
  });
}

/** Checks the documents of a source on a state without making a plan. */
export function checkOn(
  state: Snapshot,
  source: string,
  documents: readonly Document[],
  { ids, ...more }: Omit<Options, 'since'> = {},
): CheckOutcome {
  const input = { snapshot: state, validator: validatorOf(state), source, documents, now, newId: idsOn(state, ids) };
  return run(checkDocuments({ ...input, ...more }));
}

/**
 * Plans the documents of a source, and holds back files with problems. `unread`: problems found while reading the
 * files.
 */
export function planHolding(
  state: Snapshot,
  source: string,
  documents: readonly Document[],
  unread: readonly Problem[] = [],
): PlanOutcome {
  const input = {
    snapshot: state,
    validator: validatorOf(state),
    source,
    documents,
    now,
    newId: idsOn(state, undefined),
  };
  return run(planHoldingBack(input, unread));
}

function validatorOf({ registry: used }: Snapshot) {
  return used === registry ? validator : createValidator(used);
}

/** Returns the state after applying the documents of a source, ignoring guards. Throws when the plan has problems. */
export function applyOn(
  state: Snapshot,
  source: string,
  documents: readonly Document[],
  options: Options = {},
): Snapshot {
  return planned(planOn(state, source, documents, options)).next;
}

/** Returns the plan of a successful outcome. Throws when the outcome has problems. */
export function planned(outcome: PlanOutcome): { readonly plan: Plan; readonly next: Snapshot } {
  if (outcome.ok) return outcome;
  throw new Error(
    `refused: ${outcome.problems.map(({ code, key, message }) => `${code} ${key}: ${message}`).join('; ')}`,
  );
}

/** Returns `code Kind/key path` for every problem. Empty for a successful outcome. */
export function refusals(outcome: PlanOutcome): readonly string[] {
  return outcome.ok
    ? []
    : outcome.problems.map(({ code, kind, key, path }) => `${code} ${kind}/${key} ${path ?? ''}`.trim());
}

export function problemsOf(outcome: PlanOutcome): readonly Problem[] {
  return outcome.ok ? [] : outcome.problems;
}

/** Returns `action Kind/key: unit unit` for each change, then each claim, in the order of the plan. */
export function linesOf(outcome: PlanOutcome, before: Snapshot): readonly string[] {
  const { plan, next } = planned(outcome);
  const view = viewPlan(plan, before, next);
  return [
    ...view.changes.map(
      ({ action, kind, key, name, units }) =>
        `${action} ${kind}/${key ?? name}${action === 'update' ? `: ${units.map(({ path }) => path).join(' ')}` : ''}`,
    ),
    ...plan.claims.map(
      (claim) => `${claim.action} ${subjectOf(claim).kind}/${subjectOf(claim).key ?? subjectOf(claim).name}`,
    ),
  ];
}

export function guardsOf(outcome: PlanOutcome): readonly string[] {
  return planned(outcome).plan.guards.map(({ guard }) => guard);
}

export function warningsOf(outcome: PlanOutcome): readonly string[] {
  return planned(outcome).plan.warnings.map(({ code, key }) => `${code} ${key}`);
}

/** Returns the object with a kind and key. Throws when there is none. */
export function objectOf(state: Snapshot, kind: string, key: string) {
  const object = state.findByKey(kind, key) ?? state.lookUp(kind, 'name', key)[0];
  if (object === undefined) throw new Error(`there is no ${kind} ${key}`);
  return object;
}

/** Returns the state with these settings of sources. */
export function withModes(state: Snapshot, settings: Readonly<Record<string, Partial<SourceSettings>>>): Snapshot {
  return state.withSettings(
    new Map(Object.entries(settings).map(([source, own]) => [source, { ...defaultSettings, ...own }])),
  );
}

/** Returns a break-glass request, which overrides the values of sources until a time (`HH:MM`) on the day of `now`. */
export function breakGlass(until: string, since = now): BreakGlass {
  return { by: { id: 'u1', name: 'Ana' }, reason: 'incident 4711', since, until: `2026-03-01T${until}:00.000Z` };
}

/** Plans the creation of an object through the API. */
export function createOn(state: Snapshot, kind: string, body: JsonObject, parent?: string): RequestOutcome {
  return planCreate(contextOf(state), registry.get(kind), body, parent);
}

/** Plans the replacement of an object through the API. The body is the current spec with the members of `change`. */
export function replaceOn(
  state: Snapshot,
  kind: string,
  id: string,
  change: JsonObject,
  more: Partial<RequestContext> = {},
): RequestOutcome {
  const before = state.get(id);
  if (before === undefined) throw new Error(`there is no ${id}`);
  return planReplace({ ...contextOf(state), ...more }, registry.get(kind), before, {
    ...bodyOf(before.spec),
    ...change,
  });
}

export function deleteOn(state: Snapshot, id: string, more: Partial<RequestContext> = {}): RequestOutcome {
  const before = state.get(id);
  if (before === undefined) throw new Error(`there is no ${id}`);
  return planDelete({ ...contextOf(state), ...more }, registry.get(before.kind), before);
}

/**
 * Returns the request body for a stored spec: members are a list, and entries lack the members that responses leave out
 * when empty.
 */
export function bodyOf(spec: JsonObject): JsonObject {
  const isMembers = (name: string, value: Json) => name === 'peers' && isObject(value);
  return Object.fromEntries(
    Object.entries(spec).map(([name, value]) => [
      name,
      isMembers(name, value) ? Object.keys(value as JsonObject) : withShownEntries(value),
    ]),
  );
}

function withShownEntries(value: Json): Json {
  if (!Array.isArray(value)) return value;
  return value.map((entry: Json) =>
    isObject(entry)
      ? Object.fromEntries(Object.entries(entry).filter(([, member]) => !isEmpty(member as Json)))
      : entry,
  );
}

function contextOf(snapshot: Snapshot): RequestContext {
  return { snapshot, validator, strict: false, now, newId: idsOn(snapshot) };
}

/** Returns a function that creates ids that no other revision of the account uses. */
export function idsOn(state: Snapshot, prefix = 'new'): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${state.revision}-${String(count).padStart(4, '0')}`;
  };
}

function run<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
