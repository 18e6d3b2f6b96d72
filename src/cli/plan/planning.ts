import { isObject } from '../../lib/json.ts';
import type { SourceFile } from '../../model/document.ts';
import type { Operation } from '../../model/operation/operation.ts';
import { contradictionCodes } from '../../model/problem.ts';
import type { Fields, ValueOf } from '../../model/schema/field.ts';
import type { PushedValues } from '../../model/schema/values.ts';
import type { FileRules } from '../../model/sources/file-rules.ts';
import { documents } from '../../operations/config/documents.ts';
import type { PlanView } from '../../operations/config/plan.ts';
import { plan as planField } from '../../operations/config/plan.ts';
import { plans as operations } from '../../operations/config/plans.ts';
import {
  type Answer,
  type Client,
  call,
  type OperationInput,
  readAnswer,
  readValue,
  send,
  unreadableAnswer,
} from '../client.ts';
import type { Invocation } from '../command.ts';
import { exit, worstOf } from '../exit.ts';
import { textsOf } from '../flags.ts';
import { count } from '../terminal/problems.ts';
import { withProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Outputs } from './outputs.ts';

type Plan = ValueOf<typeof planField>;

type DocumentsBody = NonNullable<OperationInput<typeof documents.plan>['body']>;

/** A plan that the server stores. */
export type StoredPlan = PlanView & { readonly id: string };

/** Files of a source's documents, and the values that the documents name. */
export interface Push {
  readonly source: string;
  readonly files: readonly SourceFile[];
  /** Rules by which the files were selected. */
  readonly rules: readonly FileRules[];
  readonly values: PushedValues;
}

/** Lets the server plan the files. */
export async function requestPlan(
  client: Client,
  push: Push,
  flags: Invocation['flags'],
  terminal: Terminal,
): Promise<StoredPlan> {
  return storedPlanIn(await sendPlanned(client, pushBody(push, flags), terminal));
}

/**
 * Lets the server plan files that will be applied. When they contradict other sources, also requests to apply them, so
 * that the server records the claims of this source: planning alone writes nothing, and without these claims the last
 * writer would win.
 */
export async function requestPlanToApply(
  client: Client,
  push: Push,
  flags: Invocation['flags'],
  terminal: Terminal,
): Promise<StoredPlan> {
  const body = pushBody(push, flags);
  const answer = await sendPlanned(client, body, terminal);
  // Nothing is applied, because no plan has this digest.
  if (contradictsOthers(answer)) await send(client, documents.apply, { body: { ...body, expectDigest: 'none' } });
  return storedPlanIn(answer);
}

function storedPlanIn(answer: Answer): StoredPlan {
  return requireStoredPlan(readAnswer(documents.plan, answer), answer, documents.plan);
}

function contradictsOthers({ status, body }: Answer): boolean {
  const problems = status >= 400 && isObject(body) && Array.isArray(body['problems']) ? body['problems'] : [];
  return problems.some((problem) => isObject(problem) && contradictionCodes.has(String(problem['code'])));
}

/**
 * Tells the server that a plan without changes is applied, which ends claims that its source could not enforce before.
 */
export async function settlePlan(client: Client, { id }: StoredPlan): Promise<void> {
  // The answer is ignored: a caller without write access, or with a suspended source, has no claims to end.
  await send(client, operations.apply, { params: { id } });
}

/** Returns the request body for planning or applying the files. */
export function pushBody({ source, files, rules, values }: Push, flags: Invocation['flags']): DocumentsBody {
  const { kind: kinds } = flags;
  return {
    source,
    files,
    ...(rules.length === 0 ? {} : { rules }),
    values,
    prune: flags['no-prune'] !== true,
    allowEmpty: flags['allow-empty'] === true,
    allowReplace: flags['allow-replace'] === true,
    force: flags['force-ownership'] === true,
    strictBase: flags['strict-base'] === true,
    strictFiles: flags['strict-files'] === true,
    ...textsOf(flags, ['adopt', 'select']),
    ...(Array.isArray(kinds) ? { kinds } : {}),
  };
}

function sendPlanned(client: Client, body: DocumentsBody, terminal: Terminal): Promise<Answer> {
  return withProgress(terminal, `planning ${count(body.files.length, 'file')}`, () =>
    send(client, documents.plan, { body }),
  );
}

/** Lets the server plan a rollback to a revision. */
export function requestRollback(
  client: Client,
  revision: number,
  scope: string,
  terminal: Terminal,
): Promise<StoredPlan> {
  return withProgress(terminal, 'planning', () =>
    callForPlan(client, operations.rollBack, { params: { revision }, body: { scope } }),
  );
}

/** Result of applying a stored plan. When not `done`, guards stopped the plan. */
export type Applied =
  | {
      readonly done: true;
      readonly plan: PlanView;
      readonly revision: number | null;
      /** Values that the server generated. They are shown only this once. */
      readonly outputs: Outputs;
    }
  | { readonly done: false; readonly plan: PlanView };

/** Options of applying a plan. */
export interface ApplyRequest {
  /** Digest of the plan that the user approves. */
  readonly approve?: string | undefined;
  readonly strictBase: boolean;
  /** Reason for applying the plan by hand although a server runs its source. */
  readonly override?: string | undefined;
  /** Idempotency key: requests with the same key are carried out once. */
  readonly key: string;
}

/**
 * Lets the server apply a stored plan: exactly as it was shown, or not at all. Returns `passing` when the request may
 * be repeated soon.
 */
export async function requestApply(
  client: Client,
  plan: StoredPlan,
  { approve, strictBase, override, key }: ApplyRequest,
): Promise<Applied | 'passing'> {
  const request = {
    ...(approve === undefined ? {} : { approve }),
    strictBase,
    ...(override === undefined ? {} : { override }),
  };
  const { id } = plan;
  const headers = { 'idempotency-key': key };
  const answer = await send(client, operations.apply, { params: { id }, body: request, headers });
  const { server, status, body, passing } = answer;
  if (passing && status >= 400) return 'passing';
  if (status === 428 && isObject(body) && body['plan'] !== undefined)
    return { done: false, plan: { id, ...readValue(planField, body['plan'], { server, id: operations.apply.id }) } };
  const { revision, outputs = [] } = readAnswer(operations.apply, answer);
  return { done: true, plan, revision, outputs };
}

/** Reads a stored plan. Throws `NotFound`. */
export function readPlan(client: Client, id: string): Promise<StoredPlan> {
  return callForPlan(client, operations.read, { params: { id } });
}

/** Approves a plan by its digest. Throws `Conflict` when the stored plan has another digest. */
export function requestApproval(client: Client, plan: StoredPlan): Promise<StoredPlan> {
  const { id, digest } = plan;
  return callForPlan(client, operations.approve, { params: { id }, body: { digest } });
}

/** Checks whether applying the plan would write nothing. */
export function writesNothing(plan: PlanView): boolean {
  return plan.changes.length === 0 && plan.claims.length === 0;
}

/** Returns the exit code for a plan that is not applied. */
export function exitCodeOfPlan(plan: PlanView, detailed: boolean): number {
  const changes = detailed && plan.changes.length > 0 ? exit.changes : exit.ok;
  return worstOf([changes, needsApproval(plan) ? exit.approval : exit.ok]);
}

/** Checks whether guards stop the plan and it is not approved. */
export function needsApproval({ guards, state }: PlanView): boolean {
  return guards.length > 0 && state !== 'approved' && state !== 'applied';
}

/** Calls an operation whose answer is a stored plan. */
async function callForPlan<O extends Operation<Fields, Fields, Fields, Plan>>(
  client: Client,
  operation: O,
  given: OperationInput<O>,
): Promise<StoredPlan> {
  const plan: Plan = await call(client, operation, given);
  return requireStoredPlan(plan, client, operation);
}

/**
 * Returns the plan with its id. Throws when it has none, or when its format has another major version; within one,
 * members are only added.
 */
function requireStoredPlan(
  plan: Plan,
  { server }: Pick<Answer, 'server'>,
  { id: asked }: Pick<Operation, 'id'>,
): StoredPlan {
  const { id, formatVersion } = plan;
  if (id !== undefined && formatVersion.startsWith('1.')) return { ...plan, id };
  throw unreadableAnswer(server, asked, `a plan of the format ${formatVersion}`);
}
