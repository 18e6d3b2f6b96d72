import { planBounds } from '../../../../model/lower/crd/plan-resource.ts';
import type { ChangeView, PlanView } from '../../../../operations/config/plan.ts';
import type { AccessName } from '../../../../operations/config/plan-access.ts';
import type { WrittenCondition } from '../status/status-writer.ts';

/** Status of the resource of a plan, in the form in which it is written. */
export interface PlanResourceStatus extends PlanContent {
  readonly observedGeneration: number;
  readonly approvedBy?: string;
  readonly approvedAt?: string;
  readonly conditions: readonly WrittenCondition[];
}

/** Content of a plan as far as its resource shows it. It never changes. */
export interface PlanContent {
  readonly source: string;
  readonly digest: string;
  readonly baseRevision: number;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly counts: PlanView['counts'];
  readonly guards: PlanView['guards'];
  readonly access?: {
    readonly gained: number;
    readonly lost: number;
    readonly rows: readonly {
      readonly change: string;
      readonly from: string;
      readonly to: string;
      readonly traffic: string;
      readonly pairs: number;
    }[];
    readonly more?: string;
  };
  readonly changes: readonly {
    readonly action: string;
    readonly kind: string;
    readonly name: string;
    readonly fields?: readonly string[];
  }[];
  readonly more?: string;
}

/** Returns the part of a stored plan that its resource shows: limited in size, and without values. */
export function planContent(id: string, source: string, view: PlanView): PlanContent {
  const { digest, baseRevision, createdAt = '', expiresAt = '', counts, guards, access, changes } = view;
  const rows = access?.groups.slice(0, planBounds.accessRows) ?? [];
  const left = (access?.omitted ?? 0) + (access?.groups.length ?? 0) - rows.length;
  return {
    ...{ source, digest, baseRevision, counts },
    ...{ createdAt: toWholeSeconds(createdAt), expiresAt: toWholeSeconds(expiresAt) },
    guards: guards.slice(0, planBounds.guards).map(({ guard, message }) => ({ guard, message: shortened(message) })),
    ...(access === undefined
      ? {}
      : {
          access: {
            gained: access.gained.pairs,
            lost: access.lost.pairs,
            rows: rows.map(({ change, from, to, traffic, pairs }) => ({
              ...{ change, from: nameOf(from), to: nameOf(to), traffic: shortened(traffic), pairs },
            })),
            ...moreOf(left, 'rows', id),
          },
        }),
    changes: changes.slice(0, planBounds.changes).map(changeOf),
    ...moreOf(changes.length - planBounds.changes, 'changes', id),
  };
}

function changeOf({ action, kind, key, name, units }: ChangeView): PlanContent['changes'][number] {
  const fields = action === 'update' ? units.slice(0, planBounds.fields).map(({ path }) => shortened(path)) : [];
  const left = action === 'update' ? units.length - fields.length : 0;
  const all = left === 0 ? fields : [...fields.slice(0, -1), `… and ${left + 1} more`];
  return { action, kind, name: shortened(key ?? name), ...(all.length === 0 ? {} : { fields: all }) };
}

function moreOf(left: number, what: string, id: string): { readonly more?: string } {
  return left > 0 ? { more: `… and ${left} more ${what}; \`heddle plans ${id}\` shows all` } : {};
}

function nameOf({ kind, key, name }: AccessName): string {
  return shortened(`${kind}/${key ?? name}`);
}

function shortened(text: string): string {
  const most = planBounds.longestText;
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Cuts a time to whole seconds, the precision of Kubernetes. */
function toWholeSeconds(time: string): string {
  return `${time.slice(0, 19)}Z`;
}

/** Whether a plan is approved, and why or why not. */
export interface Approval {
  readonly status: 'True' | 'False';
  readonly reason: 'NeedsApproval' | 'Approved' | 'DigestDiffers' | 'NotAllowed' | 'Refused';
  readonly message: string;
  readonly by?: string | undefined;
  readonly at?: string | undefined;
}

/** Returns the status of the resource of a plan. */
export function planResourceStatus(
  content: PlanContent,
  { status, reason, message, by, at }: Approval,
  {
    generation,
    before,
    now,
  }: { readonly generation: number; readonly before: PlanResourceStatus | undefined; readonly now: string },
): PlanResourceStatus {
  const last = before?.conditions.find(({ type }) => type === 'Approved');
  const lastTransitionTime = last?.status === status ? last.lastTransitionTime : toWholeSeconds(now);
  return {
    observedGeneration: generation,
    ...content,
    ...(by === undefined ? {} : { approvedBy: by }),
    ...(at === undefined ? {} : { approvedAt: toWholeSeconds(at) }),
    conditions: [{ type: 'Approved', status, reason, message, lastTransitionTime, observedGeneration: generation }],
  };
}
