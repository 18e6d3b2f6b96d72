import { count, optional } from '../../model/operation/fields.ts';
import { boolean, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';
import { accessName } from './access.ts';

const numbers = {
  pairs: count({ doc: 'Number of pairs of endpoints.' }),
  conditional: count({ doc: 'Number of these pairs that depend on posture checks.' }),
};

const accessCount = object(numbers, {
  doc: 'Number of pairs, and how many of them depend on posture checks.',
  schema: 'AccessCount',
});

const row = object(
  {
    change: oneOf(['gained', 'lost'], { doc: 'Whether access is gained or lost.' }),
    from: accessName,
    to: accessName,
    traffic: string({ doc: 'Protocols and ports, such as `tcp/443, udp`.' }),
    ...numbers,
    partly: optional(
      boolean({ doc: 'Whether a part of what the other pairs gain or lose depends on posture checks too.' }),
    ),
  },
  { doc: 'Access that the endpoints of one group or object gain or lose to those of another.', schema: 'AccessShift' },
);

/** Access that a plan adds and removes, by groups and objects. */
export const impact = object(
  {
    gained: accessCount,
    lost: accessCount,
    groups: list(row, {
      doc: 'Rows by the groups and objects that rules name, gains first. When there are too many, only the first gains and the first losses.',
    }),
    omitted: count({ doc: 'Number of omitted rows.' }),
  },
  {
    doc: 'Access that is gained and lost. It follows from the changes, so the digest does not cover it. Absent when the plan changes nothing that access depends on.',
    schema: 'AccessImpact',
  },
);

const pair = object(
  {
    from: accessName,
    to: accessName,
    gained: optional(string({ doc: 'Access that the pair gains.' })),
    gainedIfPostureAllows: optional(string({ doc: 'Access that the pair gains if posture checks pass.' })),
    lost: optional(string({ doc: 'Access that the pair loses.' })),
    lostUnlessPostureAllows: optional(
      string({ doc: 'Access that the pair loses, and had only if posture checks passed.' }),
    ),
  },
  { doc: 'Access that one pair gains and loses.', schema: 'PlanPair' },
);

/** Number of pairs that gain and lose access by a plan, and the pairs themselves. */
export const pairs = object(
  {
    gained: accessCount,
    lost: accessCount,
    pairs: list(pair, { doc: 'Pairs, in the order of ids.' }),
    more: boolean({ doc: 'Whether there are more pairs.' }),
  },
  { doc: 'Pairs that gain or lose access by a plan.', schema: 'PlanPairs' },
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
