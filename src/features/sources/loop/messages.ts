import type { Problem } from '../../../model/problem.ts';
import type { ApplyResult } from '../../config/plans/documents.ts';
import { outputRetentionDays } from '../../config/plans/outputs.ts';
import type { Trigger } from './schedule.ts';

type Applied = Extract<ApplyResult, { readonly state: 'applied' }>;
type Waiting = Extract<ApplyResult, { readonly state: 'needs_approval' }>;

/** Returns the message about what applying the documents of a source changed. */
export function appliedMessage(name: string, documents: number, { plan, revision }: Applied): string {
  const { create, update, delete: deleted, claims } = plan.counts;
  const handed = claims > 0 ? `, ${claims} claimed or released` : '';
  const summary =
    revision === undefined
      ? 'nothing to do'
      : `revision ${revision}: ${create} created, ${update} changed, ${deleted} deleted${handed}`;
  return `source ${name}: ${documents} documents, ${summary}`;
}

/** Returns the message with the number of files that are held back. */
export function heldMessage(message: string, files: number): string {
  if (files === 0) return message;
  const what = files === 1 ? '1 file is' : `${files} files are`;
  return `${message}; ${what} held back because of problems, and the last applied content stays in effect`;
}

/** Returns the message about why a plan waits, and how to approve it. */
export function approvalMessage(name: string, id: string, { plan }: Waiting): string {
  const guards = plan.guards.map((guard) => guard.message).join('; ');
  return `source ${name} needs an approval and changed nothing: ${guards}; view the plan with \`heddle plans ${id}\`, approve exactly this plan with \`heddle approve ${id}\`; its digest is ${plan.digest}`;
}

/** Returns the message about how to read values that were generated while no caller waited for them. */
export function outputsMessage(name: string, plan: string): string {
  return `source ${name}: values were generated for new objects and can be read once within ${outputRetentionDays} days: \`heddle outputs ${plan}\``;
}

/** Returns the message about the number of problems in the documents. */
export function invalidMessage(name: string, problems: readonly Problem[]): string {
  const count = problems.length;
  return `source ${name} is not applied: ${count} ${count === 1 ? 'problem' : 'problems'} in its documents; nothing was changed`;
}

/** Returns the message about why a source cannot be read. */
export function unavailableMessage(name: string, reason: string): string {
  return `source ${name} is unavailable: ${reason.replace(/\.$/, '')}; nothing is changed until it is available again`;
}

/** Returns the message that the account of a source does not exist any more. */
export function goneMessage(name: string, account: string): string {
  return `source ${name} is stalled: its account ${account} does not exist any more, and nothing of it is created again; remove the source from the configuration`;
}

const drivers: Partial<Readonly<Record<Trigger, string>>> = {
  content: 'changes of its content',
  hint: 'hints',
  interval: 'its interval',
  retry: 'retries',
};

/** Returns the message about a loop that ran hot: what drove it, and who else changed the account. */
export function hotMessage(name: string, trigger: Trigger, writers: readonly string[]): string {
  const others = writers.length === 0 ? '' : `; in between the account was changed by ${writers.join(', ')}`;
  return `source ${name} reconciles too often and is stopped (HotLoop): too many reconciles were caused by ${drivers[trigger] ?? trigger}${others}. It is tried every five minutes; find out what else changes the same values, then run \`heddle reconcile ${name}\``;
}
