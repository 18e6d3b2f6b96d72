import { LeaseLost } from '../../../commit/batch.ts';
import { readInput } from '../../../documents/input.ts';
import type { Reader } from '../../../documents/reader.ts';
import { sha256 } from '../../../lib/node-pure.ts';
import type { Document } from '../../../model/document.ts';
import { NotFound } from '../../../model/errors.ts';
import { contradictionCodes, limitWarnings } from '../../../model/problem.ts';
import { environmentOfSource } from '../../../model/schema/values.ts';
import type { SourceEvent } from '../../../model/sources/conditions.ts';
import { isSuspended } from '../../../model/sources/settings.ts';
import { isReminderDue } from '../../../model/sources/source-events.ts';
import type { ContentIdentity, SourceStatus } from '../../../model/sources/status.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { tracedRoot } from '../../../telemetry/span.ts';
import { applyIfApproved } from '../../config/plans/apply-plan.ts';
import type { ApplyRequest } from '../../config/plans/apply-request.ts';
import { storeForApproval } from '../../config/plans/approvals.ts';
import type { ApplyResult } from '../../config/plans/documents.ts';
import { hasUnreadOutputs } from '../../config/plans/outputs.ts';
import type { Fetched, Origin, OriginOutcome } from '../files/origin.ts';
import { claimsOfOthers, countDrift, inventoryOf, manualRevisionOf } from '../sources.ts';
import type { Clock } from './loop.ts';
import { measure } from './measure.ts';
import {
  appliedMessage,
  approvalMessage,
  goneMessage,
  heldMessage,
  invalidMessage,
  outputsMessage,
  unavailableMessage,
} from './messages.ts';
import { createStatusRecord, type RecordOptions } from './record.ts';
import { dueRenewals, renewingDocuments } from './renewals.ts';
import type { Reporter } from './report.ts';
import type { Conclusion } from './schedule.ts';
import { digestOfValues, type UsedValue, usedValues } from './values-used.ts';

/** Options of the reconciler of a source. */
export interface ReconcilerOptions extends RecordOptions {
  readonly reader: Reader;
  readonly origin: Origin;
  /** True: a bad file does not keep the other files from being applied. */
  readonly holdsBack?: true;
  /** Version of the program. Its result for the same input may differ between versions. */
  readonly version: string;
  readonly clock: Clock;
  readonly report: Reporter;
}

/** Reconciles a source repeatedly, and records its status. */
export interface Reconciler {
  /**
   * Reconciles once. `fresh` returns whether the result may differ from that of the last run. `isProbe`: the loop was
   * stopped because it ran hot. Never throws.
   */
  reconcile(fresh: IsFresh, options?: { readonly isProbe: boolean }): Promise<Conclusion>;
  /** Records another event of the source. */
  note(event: SourceEvent): Promise<void>;
  /** Sends a reminder when the source has been suspended for a long time. */
  remind(): Promise<void>;
}

type IsFresh = (key: string) => boolean;

type ReadContent = Extract<Fetched, { readonly ok: true }>;

/** State of the last run. */
interface LastRun {
  digest?: string;
  values: readonly UsedValue[];
  /** Documents that request their generated values to be renewed before they expire. */
  renewing: readonly Document[];
  /** Digest of these values, which were read before they were applied. */
  valuesDigest: string;
  /** Documents that were applied last, and the resulting revision. Absent: the next run plans all documents. */
  since?: { readonly documents: readonly Document[]; readonly revision: number } | undefined;
  /** Time at which the plan that waits for an approval expires. Absent: no plan waits. */
  waitsUntil?: string | undefined;
}

/** Creates the reconciler of a source. */
export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { engine, account, name, origin, report } = options;
  const memory: LastRun = { values: [], renewing: [], valuesDigest: '' };
  const record = createStatusRecord(options);
  let reported = '';
  const reportOnce = (level: 'warn' | 'error', message: string): void => {
    if (reported !== message) report({ level, message });
    reported = message;
  };

  /** Records a failure that may pass. */
  const failed = async (event: Failure): Promise<Conclusion> => {
    memory.since = undefined;
    reportOnce(event.what === 'failed' ? 'error' : 'warn', event.message);
    // If recording fails too, the cause is most likely the error that was just reported.
    await record.note(event).catch(() => undefined);
    return { result: 'failed' };
  };

  /** Applies what was read, unless the result would be the same as last time. */
  const conclude = async (fetched: ReadContent, fresh: IsFresh, isProbe: boolean): Promise<Conclusion> => {
    const [now, state] = [engine.now(), await engine.snapshots.fresh(account)];
    const others = await claimsOfOthers(engine, account, name);
    const keyOn = (values: string, at: Snapshot) => inputKeyOf(options, { fetched, values, others, at, memory, now });
    // A source that is recorded as `stalled` compares its documents again: finding them applied ends that state.
    const isSeen = memory.digest === fetched.digest && record.status().state !== 'stalled';
    if (isSeen && !fresh(keyOn(digestUsedValues(options, memory, fetched), state)))
      return await concludeSame(options, state);
    // A server that starts compares all documents. This takes a while, and most likely finds all of them applied.
    const isQuiet = memory.digest === undefined && isApplied(record.status(), fetched.digest);
    const ended = await record.during(() => apply(options, fetched, memory, record.status()), { isQuiet });
    await reportResult(options, ended);
    const { event, outcome } = ended;
    reported = '';
    await record.note(eventToRecord(event, isProbe));
    // Uses the digest from before the values were applied: a value that changed during the run must still be applied.
    const key = keyOn(memory.valuesDigest, outcome.state);
    return conclusionOf(event, key, `${fetched.digest} ${memory.valuesDigest}`);
  };

  const attempt = async (fresh: IsFresh, isProbe: boolean): Promise<Conclusion> => {
    try {
      // A suspension takes effect before the loop notices it; only a run that has already begun completes.
      if (isSuspended((await engine.snapshots.fresh(account)).settingsOf(name))) return { result: 'same' };
      const fetched = await origin.fetch(lastApplied(record.status()));
      if (fetched.ok) return await conclude(fetched, fresh, isProbe);
      return await failed(unavailableEvent(name, fetched));
    } catch (error) {
      if (error instanceof NotFound) {
        // There is no source any more whose status could be stored.
        reportOnce('error', goneMessage(name, account));
        return { result: 'refused', key: 'gone', content: '' };
      }
      if (!(error instanceof LeaseLost)) return failed({ what: 'failed', message: reasonOf(name, error) });
      reportOnce('warn', `source ${name}: ${error.message}`);
      return { result: 'failed', isLost: true };
    }
  };

  return {
    note: record.note,
    async remind() {
      if (isReminderDue(record.status(), engine.now())) await record.note({ what: 'reminded' });
    },
    async reconcile(fresh, { isProbe } = { isProbe: false }) {
      const begun = options.clock.now();
      const conclusion = await inSpan(options, () => attempt(fresh, isProbe));
      measure(options, record.status(), conclusion, (options.clock.now() - begun) / 1000);
      return conclusion;
    },
  };
}

/** Runs a reconcile in a root span, because it is not part of any other operation. */
function inSpan({ engine, account, name }: ReconcilerOptions, work: () => Promise<Conclusion>): Promise<Conclusion> {
  const about = { 'heddle.account': account, 'heddle.source': name };
  return tracedRoot(engine.tracer, 'reconcile', about, async (span) => {
    const conclusion = await work();
    span?.set({ 'heddle.result': conclusion.result });
    return conclusion;
  });
}

type Failure = Extract<SourceEvent, { readonly what: 'unavailable' | 'failed' | 'hot' }>;

function unavailableEvent(name: string, { reason, version }: Extract<Fetched, { readonly ok: false }>): Failure {
  const message = unavailableMessage(name, reason);
  return { what: 'unavailable', message, ...(version === undefined ? {} : { version }) };
}

function lastApplied(status: SourceStatus) {
  const { lastAppliedCommit: commit, lastAppliedUids: uids, lastAppliedVersion: version } = status;
  return { commit, uids, version };
}

function reasonOf(name: string, error: unknown): string {
  return `source ${name}: ${error instanceof Error ? error.message : String(error)}; it is tried again`;
}

/**
 * Returns a key of everything on which the result of a reconcile depends: the content, the values that it names, the
 * account (a change of settings is a revision), the claims of other sources, what is due or has expired by now, and the
 * version of the program.
 */
function inputKeyOf(
  { version }: ReconcilerOptions,
  on: {
    readonly fetched: ReadContent;
    readonly values: string;
    readonly others: string;
    readonly at: Snapshot;
    readonly memory: LastRun;
    /** Time before the documents are applied. Whatever becomes due during the run is left to the next reconcile. */
    readonly now: string;
  },
): string {
  const { digest, lost = [], problems = [] } = on.fetched;
  const { now } = on;
  const due = dueRenewals(on.memory.renewing, on.at, now);
  // A plan that expired is made again, so that there is a plan to approve.
  const isExpired = on.memory.waitsUntil !== undefined && on.memory.waitsUntil <= now;
  const { values, others, at } = on;
  return sha256(JSON.stringify([digest, problems, [...lost], values, at.revision, others, due, isExpired, version]));
}

function digestUsedValues(
  { engine, account, name }: ReconcilerOptions,
  { values }: Pick<LastRun, 'values'>,
  { secrets }: ReadContent,
): string {
  return digestOfValues(values, environmentOfSource(engine.planEnvironment, { account, source: name }, secrets));
}

interface ReconcileResult {
  readonly event: Extract<SourceEvent, { readonly what: 'applied' | 'refused' }>;
  readonly outcome: OriginOutcome;
  /** Id of the plan that stores values to be read once. */
  readonly kept?: string | undefined;
}

/**
 * Reports the result to the origin. Then reports how to read generated values that were not delivered to the
 * destination that the documents name.
 */
async function reportResult(
  { engine, account, name, origin, report }: ReconcilerOptions,
  ended: ReconcileResult,
): Promise<void> {
  const { outcome, kept } = ended;
  await origin.concluded?.(outcome);
  if (kept !== undefined && (await hasUnreadOutputs(engine, account, name, kept)))
    report({ level: 'info', message: outputsMessage(name, kept) });
}

async function concludeSame({ origin }: ReconcilerOptions, state: Snapshot): Promise<Conclusion> {
  await origin.unchanged?.(state);
  return { result: 'same' };
}

/** When a probe changed something, the stopped loop is still hot. */
function eventToRecord(event: ReconcileResult['event'], isProbe: boolean): ReconcileResult['event'] {
  return isProbe && event.what === 'applied' && event.revision !== undefined ? { ...event, isHot: true } : event;
}

function conclusionOf(event: ReconcileResult['event'], key: string, content: string): Conclusion {
  if (event.what !== 'applied') return { result: 'refused', key, content };
  return { result: 'done', key, content, wrote: event.revision !== undefined };
}

/** Whether this content was applied last. */
function isApplied({ state, lastAppliedDigest }: SourceStatus, digest: string): boolean {
  return state === 'applied' && lastAppliedDigest === digest;
}

/** Reads the documents and applies them. */
async function apply(
  options: ReconcilerOptions,
  fetched: ReadContent,
  memory: LastRun,
  last: SourceStatus,
): Promise<ReconcileResult> {
  const { engine, reader, account, name, lease, report } = options;
  for (const warning of fetched.warnings) report({ level: 'warn', message: `source ${name}: ${warning}` });
  const { rules, problems: ruleProblems, notes } = fetched.selection;
  for (const note of notes) report({ level: 'info', message: `source ${name}: ${note}` });
  const { documents, problems, foreign, locate } = await readInput(reader, fetched.files, { account });
  const isFirst = memory.digest === undefined;
  memory.digest = fetched.digest;
  memory.values = usedValues(documents);
  const valuesDigest = digestUsedValues(options, memory, fetched);
  // A changed value changes the result, even when the documents are the same.
  if (memory.valuesDigest !== valuesDigest) memory.since = undefined;
  memory.valuesDigest = valuesDigest;
  memory.renewing = renewingDocuments(documents);
  const state = await engine.snapshots.current(account);
  // So does a value that must be generated again.
  if (fetched.lost !== undefined || dueRenewals(memory.renewing, state, engine.now()) !== '') memory.since = undefined;
  const call = { account, actor: { type: 'source', id: name, name } as const, revision: state.revision };
  const request: ApplyRequest = {
    ...{ source: name, documents, foreign, locate, rules, lease, keepOutputs: true },
    problems: [...ruleProblems, ...(fetched.problems ?? []), ...problems],
    ...(options.holdsBack === undefined ? {} : { holdBack: true }),
    ...(memory.since === undefined ? {} : { since: memory.since }),
    ...(fetched.commit === undefined ? {} : { commitRef: fetched.commit }),
    ...(fetched.secrets === undefined ? {} : { secrets: fetched.secrets }),
    ...(fetched.lost === undefined ? {} : { lost: fetched.lost }),
    ...(fetched.commitInfo === undefined ? {} : { commitInfo: fetched.commitInfo }),
  };
  const result = await applyIfApproved(engine, call, request);
  const plan = result.state === 'needs_approval' ? await storeForApproval(engine, call, request, result) : undefined;
  memory.waitsUntil = plan?.expiresAt;
  const isWhole = result.state === 'applied' && result.plan.heldBack === undefined;
  memory.since = isWhole ? { documents, revision: result.after.revision } : undefined;
  const { digest, commit, uids, version } = fetched;
  const content = {
    digest,
    ...(commit === undefined ? {} : { commit }),
    ...(uids === undefined ? {} : { uids }),
    ...(version === undefined ? {} : { version }),
  };
  const isSame = result.state === 'applied' && result.revision === undefined;
  const confirmed = isSame ? await manualRevisionOf(engine, account, name) : undefined;
  const isKnown = !isFirst && isApplied(last, fetched.digest);
  return resultOf(options, result, {
    documents: documents.length,
    state,
    content,
    isKnown,
    confirmed,
    planId: plan?.id ?? '',
  });
}

interface Attempt {
  readonly documents: number;
  readonly state: Snapshot;
  readonly content: ContentIdentity;
  /** Whether it was reported before that this content is applied. */
  readonly isKnown: boolean;
  /** Revision that was applied by hand and matches the documents. `undefined`: there is none. */
  readonly confirmed: number | undefined;
  /** Id of the stored plan that waits for an approval. Empty when none waits. */
  readonly planId: string;
}

function resultOf(options: ReconcilerOptions, result: ApplyResult, attempt: Attempt): ReconcileResult {
  const { name, report } = options;
  const { content, state } = attempt;
  switch (result.state) {
    case 'applied': {
      for (const warning of limitWarnings(result.plan.warnings))
        report({ level: 'warn', message: `source ${name}: ${warning.message}` });
      const { after, revision, kept } = result;
      const held = result.plan.heldBack ?? [];
      const problems = held.flatMap((file) => file.problems);
      const message = heldMessage(appliedMessage(name, attempt.documents, result), held.length);
      const level = held.length === 0 ? 'info' : 'warn';
      if (!attempt.isKnown || revision !== undefined) report({ level, message, problems });
      const { confirmed } = attempt;
      const made = revision === undefined ? (confirmed === undefined ? {} : { confirmed }) : { revision };
      const event = { ...content, what: 'applied', message, at: after.revision, ...made } as const;
      const drifted = countDrift(options.engine, after, name);
      const found = {
        inventory: inventoryOf(after, name),
        drifted,
        ...(held.length === 0 ? {} : { problems, heldBack: held.length }),
      };
      const outcome = { what: 'applied', state: after, heldBack: held } as const;
      return { event: { ...event, ...found }, outcome, kept };
    }
    case 'needs_approval': {
      const { planId } = attempt;
      const message = approvalMessage(name, planId, result);
      report({ level: 'warn', message });
      const at = result.before.revision;
      const planDigest = result.plan.digest;
      const event = { ...content, what: 'refused', state: 'needs_approval', message, at, planDigest, planId } as const;
      const { before, plan } = result;
      const outcome = { what: 'waiting', state: before, heldBack: plan.heldBack ?? [], planId, message } as const;
      return { event, outcome };
    }
    case 'invalid': {
      const { problems } = result;
      const message = invalidMessage(name, problems);
      report({ level: 'error', message, problems });
      const refused = problems.some(({ code }) => contradictionCodes.has(code)) ? 'conflicted' : 'invalid';
      const at = state.revision;
      const event = { ...content, what: 'refused', state: refused, message, at, problems } as const;
      return { event, outcome: { what: 'refused', state, problems } };
    }
    case 'stale':
      throw new Error('the plan of a source was stale, although a source never requests a certain digest');
  }
}
