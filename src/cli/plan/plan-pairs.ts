import { printable } from '../../lib/text/printable.ts';
import type { AccessName, PlanPair, PlanPairs } from '../../operations/config/plan-access.ts';
import { plans } from '../../operations/config/plans.ts';
import type { ReviewComment } from '../../plan/view/review-comments.ts';
import { type Client, call } from '../client.ts';
import type { Flags } from '../command.ts';
import { type Paint, paint as paintWith } from '../terminal/paint.ts';
import type { StoredPlan } from './planning.ts';

/** Flag `--access`, which lists the access pairs of a plan. */
export const accessFlag: Flags = {
  access: { doc: 'List every pair that gains or loses access, up to 1,000 of them.' },
};

/** Reads the pairs that gain or lose access by a plan, up to 1000. */
export function readPairs(client: Client, { id }: StoredPlan): Promise<PlanPairs> {
  return call(client, plans.readAccess, { params: { id }, query: { limit: 1000 } });
}

/** Returns the plan as `--json` writes it: with its access pairs if they were requested. */
export function withPairs<P extends StoredPlan>(plan: P, pairs: PlanPairs | undefined): P {
  return pairs === undefined ? plan : { ...plan, accessPairs: pairs };
}

/** Returns the pairs as lines of a diff. */
export function diffPairs({ pairs, more }: PlanPairs): readonly string[] {
  const lines = pairs.flatMap((pair) => linesOf(pair, paintWith(false)));
  return more ? [...lines, '# and more'] : lines;
}

/** Returns the pairs as comments on a change request. */
export function remarkPairs(pairs: PlanPairs): readonly ReviewComment[] {
  return diffPairs(pairs).map((message) => ({ level: 'notice', code: 'access_pair', title: 'access', message }));
}

/** Returns the pairs as text: one line for each pair that gains access, and one for each that loses access. */
export function renderPairs({ pairs, more }: PlanPairs, paint: Paint): string {
  if (pairs.length === 0) return '\nNo pair gains or loses access.\n';
  const rest = more ? [paint('faint', '  and more; filter them with `from` and `to` of the API')] : [];
  return `\n${[paint('strong', 'Access, pair by pair:'), ...pairs.flatMap((pair) => linesOf(pair, paint).map((line) => `  ${line}`)), ...rest].join('\n')}\n`;
}

function linesOf(pair: PlanPair, paint: Paint): readonly string[] {
  const { gained, gainedIfPostureAllows, lost, lostUnlessPostureAllows } = pair;
  const combined = (sure: string | undefined, open: string | undefined) =>
    [
      ...(sure === undefined ? [] : [sure]),
      ...(open === undefined ? [] : [`${open} depending on posture checks`]),
    ].join('; ');
  const [more, less] = [combined(gained, gainedIfPostureAllows), combined(lost, lostUnlessPostureAllows)];
  const ends = `${nameOf(pair.from)} → ${nameOf(pair.to)}`;
  return [
    ...(more === '' ? [] : [paint('added', `+ ${ends}: ${more}`)]),
    ...(less === '' ? [] : [paint('removed', `- ${ends}: ${less}`)]),
  ];
}

function nameOf({ key, name }: AccessName): string {
  return printable(key ?? name);
}
