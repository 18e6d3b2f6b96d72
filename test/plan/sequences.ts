import fc from 'fast-check';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Document } from '../../src/model/document.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import type { PlanOutcome } from '../../src/plan/plan.ts';
import { accounts, peerKeys } from './arbitrary.ts';
import { createOn, deleteOn, planOn, replaceOn } from './steps.ts';

/** One change to the account, by a source or a user. */
export type Step =
  | { readonly does: 'apply'; readonly source: string; readonly documents: readonly Document[] }
  | { readonly does: 'create'; readonly kind: string; readonly body: (pick: Pick) => JsonObject }
  | {
      readonly does: 'replace';
      readonly kind: string;
      readonly at: number;
      readonly change: (pick: Pick) => JsonObject;
    }
  | { readonly does: 'delete'; readonly kind: string; readonly at: number };

/** Returns the id of an object of a kind. */
type Pick = (kind: string, at: number) => string;

const indexes = fc.nat(20);
const rule = (sources: readonly string[], destinations: readonly string[]) => ({
  name: 'by hand',
  enabled: true,
  action: 'accept',
  bidirectional: true,
  protocol: 'all',
  sources,
  destinations,
});

const applies = fc.record({
  does: fc.constant('apply' as const),
  source: fc.constantFrom('a', 'b'),
  documents: fc.oneof({ weight: 9, arbitrary: accounts }, { weight: 1, arbitrary: fc.constant([]) }),
});

const creates = fc.oneof(
  fc
    .tuple(fc.constantFrom('ant', 'The bees', 'x', 'y'), fc.subarray(peerKeys))
    .map(([name, peers]): Step => ({ does: 'create', kind: 'Group', body: () => ({ name, peers }) })),
  fc.tuple(indexes, indexes).map(
    ([from, to]): Step => ({
      does: 'create',
      kind: 'Policy',
      body: (pick) => ({ name: 'fly', enabled: true, rules: [rule([pick('Group', from)], [pick('Group', to)])] }),
    }),
  ),
);

const replaces = fc.oneof(
  fc
    .tuple(indexes, fc.subarray(peerKeys))
    .map(([at, peers]): Step => ({ does: 'replace', kind: 'Group', at, change: () => ({ peers }) })),
  fc
    .tuple(indexes, fc.boolean())
    .map(([at, enabled]): Step => ({ does: 'replace', kind: 'Policy', at, change: () => ({ enabled }) })),
  fc.tuple(indexes, indexes).map(
    ([at, group]): Step => ({
      does: 'replace',
      kind: 'Policy',
      at,
      change: (pick) => ({ rules: [rule([pick('Group', group)], [pick('Group', 0)])] }),
    }),
  ),
  fc.tuple(indexes, indexes, indexes).map(
    ([at, one, two]): Step => ({
      does: 'replace',
      kind: 'Route',
      at,
      change: (pick) => ({ groups: [...new Set([pick('Group', one), pick('Group', two)])] }),
    }),
  ),
  fc.tuple(indexes, indexes).map(
    ([at, group]): Step => ({
      does: 'replace',
      kind: 'DNSZone',
      at,
      change: (pick) => ({ distribution_groups: [pick('Group', group)] }),
    }),
  ),
);

const deletes = fc
  .tuple(fc.constantFrom('Group', 'Policy', 'Route', 'DNSZone', 'DNSRecord'), indexes)
  .map(([kind, at]): Step => ({ does: 'delete', kind, at }));

/** Generates sequences of API requests and of documents from two sources. */
export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: applies }, creates, { weight: 2, arbitrary: replaces }, deletes),
  { maxLength: 12 },
);

/** Plans one step. Returns `undefined` when the state contains no object that the step could change. */
export function planStep(state: Snapshot, step: Step): PlanOutcome | undefined {
  const pick: Pick = (kind, at) => state.ofKind(kind)[at % state.countOf(kind)]?.id ?? '';
  if (step.does === 'apply') return planOn(state, step.source, step.documents);
  if (step.does === 'create') return createOn(state, step.kind, step.body(pick));
  if (state.countOf(step.kind) === 0) return undefined;
  const id = pick(step.kind, step.at);
  return step.does === 'delete' ? deleteOn(state, id) : replaceOn(state, step.kind, id, step.change(pick));
}
