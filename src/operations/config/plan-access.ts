import { count, optional } from '../../model/operation/fields.ts';
import { boolean, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';
import { accessName } from './access.ts';

const numbers = {
  pairs: count({ doc: 'Pairs of ends.' }),
  conditional: count({ doc: 'So many of them only as posture checks turn out.' }),
};

const accessCount = object(numbers, { doc: 'How many pairs.', schema: 'AccessCount' });

const row = object(
  {
    change: oneOf(['gained', 'lost'], { doc: 'Which of both.' }),
    from: accessName,
    to: accessName,
    traffic: string({ doc: 'Such as `tcp/443, udp`.' }),
    ...numbers,
    partly: optional(boolean({ doc: 'A part of what other pairs gain or lose depends on posture checks too.' })),
  },
  { doc: 'What the ends of one name gain or lose on the way to those of another.', schema: 'AccessShift' },
);

/** Access that a plan adds and removes, by groups and objects. */
export const impact = object(
  {
    gained: accessCount,
    lost: accessCount,
    groups: list(row, {
      doc: 'By the groups and objects that rules name: gains first; of very many the first of both.',
    }),
    omitted: count({ doc: 'How many of these were left out.' }),
  },
  {
    doc: 'Who gains and loses access. It follows from the changes and the digest leaves it out; absent when nothing changes on which access depends.',
    schema: 'AccessImpact',
  },
);

const pair = object(
  {
    from: accessName,
    to: accessName,
    gained: optional(string({ doc: 'What it gains.' })),
    gainedIfPostureAllows: optional(string({ doc: 'What it gains if posture checks turn out well.' })),
    lost: optional(string({ doc: 'What it loses.' })),
    lostUnlessPostureAllows: optional(
      string({ doc: 'What it loses, and had only if posture checks turned out well.' }),
    ),
  },
  { doc: 'What one pair gains and loses.', schema: 'PlanPair' },
);

/** Number of pairs that gain and lose access by a plan, and the pairs themselves. */
export const pairs = object(
  {
    gained: accessCount,
    lost: accessCount,
    pairs: list(pair, { doc: 'In the order of ids.' }),
    more: boolean({ doc: 'Whether there are more.' }),
  },
  { doc: 'Who exactly gains and loses access by a plan.', schema: 'PlanPairs' },
);

/** Access that one pair gains and loses by a plan. Absent members: none. */
export type PlanPair = ValueOf<typeof pair>;

/** All pairs that gain and lose access by a plan. */
export type PlanPairs = ValueOf<typeof pairs>;

/** Access that a plan adds and removes, summed up by the groups and objects that rules name. */
export type AccessImpact = ValueOf<typeof impact>;

/** Number of pairs of endpoints, and how many of them depend on posture checks. */
export type AccessCount = ValueOf<typeof accessCount>;

/** Access that the endpoints of one group or object gain or lose towards those of another. */
export type AccessRow = ValueOf<typeof row>;

/** Endpoint, or an object that contains endpoints. */
export type AccessName = AccessRow['from'];
