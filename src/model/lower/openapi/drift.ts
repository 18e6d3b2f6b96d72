import type { JsonObject } from '../../../lib/json.ts';
import { type Items, json, listOf, named, query } from './operation.ts';
import { count, object, text, time, words } from './words.ts';

const example = {
  revision: 18,
  units: [
    {
      ...{
        kind: 'Policy',
        key: 'developers-to-databases',
        name: 'Developers to databases',
        id: 'ch8i4ug6lnn4g9hqv7mg',
      },
      ...{ path: 'enabled', stated: true, effective: false },
      ...{ source: 'office', file: 'policies.yaml', line: 12 },
      ...{ why: 'override', until: '2026-01-02T07:04:05.000Z', by: 'Ana Lima', reason: 'incident 4711' },
    },
  ],
  byHand: [{ source: 'office', revision: 18, by: 'Ana Lima', commit: '9a52c0de4f0b7e21c3d48a6f5e9b1c70d2e83f46' }],
};

/** The endpoint that lists the values that differ from the stated ones. */
export const driftItems: Items = {
  '/api/config/drift': {
    get: {
      id: 'readDrift',
      tag: 'config',
      summary: 'Say what is not as sources state it',
      description: 'Nothing is read but the account itself: documents that are not applied yet are no drift.',
      parameters: [query('source', 'Only what this source states.')],
      answer: json(named('Drift'), example),
      errors: [401, 403, 429, 503],
    },
  },
};

/** The schemas of its answer. */
export const driftSchemas: JsonObject = {
  Drift: object('What differs from what sources state.', {
    revision: count('The revision of the account.'),
    units: listOf('DriftUnit'),
    byHand: listOf('HandRun'),
  }),
  HandRun: object('A source that a server runs and that somebody applied by hand since.', {
    source: text('The source.'),
    revision: count('The revision that was applied by hand.'),
    by: text('Who applied it.'),
    commit: {
      type: ['string', 'null'],
      description: 'The commit that the server applied before, where there are commits.',
    },
  }),
  DriftUnit: object(
    'A unit that is not as a source states it.',
    {
      kind: text('The kind of the object.'),
      key: text('Its `metadata.name`, when it has one.'),
      name: text('Its display name.'),
      id: text('Its id.'),
      path: text('Such as `enabled`, `peers[ana-laptop]` or `rules[web]`.'),
      stated: { description: 'Absent for a member that nobody states in a group that is to have no others.' },
      effective: { description: 'Absent when it is not there.' },
      source: text('The source that states it.'),
      file: text('Where it is stated.'),
      line: count('Where in the file, from 1.'),
      why: words(
        ['api', 'override', 'failsafe', 'pending'],
        'Somebody changed it; somebody overrides it for a while; it restricts, which documents do not undo; it names what is not there.',
      ),
      until: time('Of an override: when it ends.'),
      by: text('Of an override: who asked for it.'),
      reason: text('Of an override: why.'),
    },
    ['key', 'stated', 'effective', 'until', 'by', 'reason'],
  ),
};
