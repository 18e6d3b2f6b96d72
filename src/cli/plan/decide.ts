import type { PlanView } from '../../operations/config/plan.ts';
import type { PlanPairs } from '../../operations/config/plan-access.ts';
import { plans as operations } from '../../operations/config/plans.ts';
import { type Client, call } from '../client.ts';
import type { Invocation } from '../command.ts';
import { exit } from '../exit.ts';
import { failureDocument } from '../failure.ts';
import { approvalHint, renderPlan } from '../render/plan.ts';
import { isConfirmed } from '../terminal/confirm.ts';
import type { Paint } from '../terminal/paint.ts';
import { applyCommand } from '../terminal/shell.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { renderOutputs } from './outputs.ts';
import { readPairs, renderPairs, withPairs } from './plan-pairs.ts';
import { type Applied, needsApproval, type StoredPlan, writesNothing } from './planning.ts';
import { sendPlan } from './sending.ts';

type Call = Pick<Invocation, 'flags' | 'positionals' | 'terminal'> & {
  /** The command that applies the plan once it is approved, as words. Absent: the current command again. */
  readonly again?: readonly string[];
};

/** Result of deciding on a plan: the exit code, and the document that `--json` writes. */
export interface Decision {
  readonly code: number;
  readonly document: object;
}

/** Shows a plan, asks whether to apply it, and applies it. */
export async function confirmAndApply(call: Call, client: Client, asked: StoredPlan): Promise<Decision> {
  const { flags, terminal } = call;
  const pairs = flags['access'] === true ? await readPairs(client, asked) : undefined;
  const plan = withPairs(asked, pairs);
  show(call, plan, pairs);
  const { 'expect-digest': expected = plan.digest } = flags;
  if (expected !== plan.digest) {
    const message = `The plan has the digest ${plan.digest}, not the expected one; look at it with \`heddle plan\`.`;
    return refusePlan(terminal, plan, exit.conflict, message);
  }
  if (writesNothing(plan)) return { code: exit.ok, document: documentOf(plan, false, null) };
  const stopped = await guardRefusal(call, client, plan);
  if (stopped !== undefined) return stopped;
  if (!(await isConfirmed(call, 'Apply this plan?')))
    return refusePlan(terminal, plan, exit.error, 'Nothing was applied.');
  const applied = await sendPlan(terminal, client, plan, {
    approve: textIn(flags, 'approve'),
    strictBase: flags['strict-base'] === true,
    override: textIn(flags, 'override'),
  });
  return applied.done ? appliedDecision(call, plan, applied) : refuseGuarded(call, applied.plan);
}

/**
 * Prints the plan. With `--json`, standard output is reserved for the document, so the plan is printed to standard
 * error, and only if the user will be asked.
 */
function show({ flags, terminal }: Call, plan: StoredPlan, pairs: PlanPairs | undefined): void {
  const text = (paint: Paint) => renderPlan(plan, paint) + (pairs === undefined ? '' : renderPairs(pairs, paint));
  if (flags['json'] !== true) terminal.out(text(terminal.paint));
  else if (flags['auto-approve'] !== true) terminal.note(text(terminal.notePaint));
}

/**
 * Returns the refusal of a plan that its guards stop and that is not approved; the user is not asked about it. Returns
 * `undefined` when it may be applied.
 */
async function guardRefusal(call: Call, client: Client, plan: StoredPlan): Promise<Decision | undefined> {
  const approve = textIn(call.flags, 'approve');
  if (!needsApproval(plan) || approve === plan.digest) return undefined;
  if (approve !== undefined) return refuseGuarded(call, plan, ' The approval given is for another plan.');
  return (await isApproved(client, plan)) ? undefined : refuseGuarded(call, plan);
}

/** Checks whether a plan of the source with the same digest, and so with the same effect, is approved. */
async function isApproved(client: Client, { source, digest }: StoredPlan): Promise<boolean> {
  const query = { state: 'approved', ...(source === undefined ? {} : { source }) };
  const plans = await call(client, operations.list, { query });
  return plans.some((plan) => plan.digest === digest);
}

function textIn(flags: Invocation['flags'], name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

function refuseGuarded({ flags, positionals, terminal, again }: Call, plan: PlanView, more = ''): Decision {
  const hint = approvalHint(plan, again === undefined ? applyCommand(positionals, flags) : again.join(' '));
  return refusePlan(terminal, plan, exit.approval, `A guard tripped, so nothing was applied.${more}`, hint);
}

function refusePlan(terminal: Terminal, plan: PlanView, code: number, message: string, hint = ''): Decision {
  terminal.note(`${terminal.notePaint('error', 'error:')} ${message}\n${hint}`);
  return { code, document: { ...failureDocument(message, code), plan } };
}

type Done = Extract<Applied, { readonly done: true }>;

function appliedDecision({ flags, terminal }: Call, plan: StoredPlan, applied: Done): Decision {
  const { revision, outputs } = applied;
  const text = revision === null ? 'Applied; there was nothing to write.' : `Applied as revision ${revision}.`;
  if (flags['json'] !== true) terminal.out(`${text}\n${outputsText(applied)}`);
  const changed = flags['detailed-exitcode'] === true && plan.changes.length > 0;
  return {
    code: changed ? exit.changes : exit.ok,
    document: { ...documentOf(plan, true, revision), ...(outputs.length === 0 ? {} : { outputs }) },
  };
}

/** Returns the values that the server generated for new objects, as text. They are shown only this once. */
function outputsText({ outputs }: Done): string {
  return outputs.length === 0
    ? ''
    : `\nGenerated for new objects, and shown only this once:\n${renderOutputs(outputs)}`;
}

function documentOf(plan: PlanView, applied: boolean, revision: number | null): object {
  return { formatVersion: '1.0', applied, revision, plan };
}
