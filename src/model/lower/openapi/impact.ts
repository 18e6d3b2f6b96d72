import type { Json, JsonObject } from '../../../lib/json.ts';
import { listOf, named } from './operation.ts';
import { count, object, text, words } from './words.ts';

const numbers = {
  pairs: count('Pairs of ends.'),
  conditional: count('So many of them only as posture checks turn out.'),
};

/** Schemas of who gains and loses access by a plan. */
export const impactSchemas: JsonObject = {
  AccessCount: object('How many pairs.', numbers),
  AccessName: object(
    'An end, or what holds some.',
    { kind: text('Its kind.'), key: text('Its `metadata.name`, when it has one.'), name: text('Its display name.') },
    ['key'],
  ),
  AccessImpact: object(
    'Who gains and loses access. It follows from the changes and the digest leaves it out; absent when nothing changes on which access depends.',
    {
      gained: named('AccessCount'),
      lost: named('AccessCount'),
      groups: {
        ...listOf('AccessShift'),
        description: 'By the groups and objects that rules name: gains first; of very many the first of both.',
      },
      omitted: count('How many of these were left out.'),
    },
  ),
  PlanPairs: object('Who exactly gains and loses access by a plan.', {
    gained: named('AccessCount'),
    lost: named('AccessCount'),
    pairs: { ...listOf('PlanPair'), description: 'In the order of ids.' },
    more: { type: 'boolean', description: 'Whether there are more.' },
  }),
  PlanPair: object(
    'What one pair gains and loses.',
    {
      from: named('AccessName'),
      to: named('AccessName'),
      gained: text('What it gains.'),
      gainedIfPostureAllows: text('What it gains if posture checks turn out well.'),
      lost: text('What it loses.'),
      lostUnlessPostureAllows: text('What it loses, and had only if posture checks turned out well.'),
    },
    ['gained', 'gainedIfPostureAllows', 'lost', 'lostUnlessPostureAllows'],
  ),
  AccessShift: object(
    'What the ends of one name gain or lose on the way to those of another.',
    {
      change: words(['gained', 'lost'], 'Which of both.'),
      from: named('AccessName'),
      to: named('AccessName'),
      traffic: text('Such as `tcp/443, udp`.'),
      ...numbers,
      partly: {
        type: 'boolean',
        description: 'A part of what other pairs gain or lose depends on posture checks too.',
      },
    },
    ['partly'],
  ),
};

/** An example of the pairs of a plan. */
export const pairsExample: Json = {
  gained: { pairs: 1, conditional: 0 },
  lost: { pairs: 0, conditional: 0 },
  pairs: [
    {
      from: { kind: 'Peer', key: 'laptop', name: 'Laptop' },
      to: { kind: 'Peer', key: 'database', name: 'Database' },
      gained: 'tcp/5432',
    },
  ],
  more: false,
};
