import type { JsonObject } from '../../../lib/json.ts';
import { type Items, json, listOf, named, query } from './operation.ts';
import { count, object, text, time } from './words.ts';

const running = {
  ...{
    kind: 'Route',
    key: 'office',
    name: 'office',
    id: 'ch8i4ug6lnn4g9hqv7mg',
    path: 'metric',
    value: 5,
    stated: 100,
  },
  ...{ source: 'office', file: 'routes.yaml', line: 5, by: 'Ana Lima', reason: 'incident 4711' },
  ...{ since: '2026-01-02T03:04:05.000Z', until: '2026-01-02T03:34:05.000Z' },
};
const made = { revision: 19, overrides: [running], lasting: [], notices: [] };
const writing = [400, 401, 403, 404, 409, 413, 415, 422, 429, 503];

/** The endpoints by which what sources state is set aside for a while. */
export const overrideItems: Items = {
  '/api/config/overrides': {
    get: {
      id: 'listOverrides',
      tag: 'config',
      summary: 'List the overrides that run',
      description: 'Values that are overridden for a while although sources state others.',
      parameters: [query('source', 'Only of objects that this source states.')],
      answer: json(named('Overrides'), { revision: 18, overrides: [running] }),
      errors: [401, 403, 429, 503],
    },
    post: {
      id: 'overrideObject',
      tag: 'config',
      summary: 'Override what sources state about an object, for a while',
      description:
        'What a replacement with the header `X-Break-Glass` does, with names in place of ids. What no source states is refused, because nothing would put it back.',
      body: json(named('OverrideRequest'), {
        ...{ kind: 'Route', name: 'office', values: { metric: 5 }, reason: 'incident 4711', ttl: '30m' },
      }),
      answer: json(named('Overridden'), made),
      errors: writing,
    },
  },
  '/api/config/overrides/end': {
    post: {
      id: 'endOverride',
      tag: 'config',
      summary: 'End overrides of an object before their time',
      description: 'What sources state applies again at once.',
      body: json(named('OverrideEnd'), { kind: 'Route', name: 'office', paths: ['metric'] }),
      answer: json(named('Overridden'), { ...made, revision: 20, overrides: [] }),
      errors: writing,
    },
  },
};

const kind = text('The kind of the object.');
const name = text('Its key, id or display name.');

/** What is shown about a running override. */
const runningOverride = object(
  'A value that is overridden for a while.',
  {
    kind,
    key: text('Its `metadata.name`, when it has one.'),
    name: text('Its display name.'),
    id: text('Its id.'),
    path: text('Such as `enabled`, `peers[ana-laptop]` or `rules[web]`.'),
    value: { description: 'What it is now; absent when it is not there.' },
    stated: { description: 'What a source states; absent for a member that none states.' },
    source: text('The source that states it.'),
    file: text('Where it is stated.'),
    line: count('Where in the file, from 1.'),
    by: text('Who holds it.'),
    reason: text('Why.'),
    since: time('Since when.'),
    until: time('When it ends.'),
  },
  ['key', 'value', 'stated', 'source', 'file', 'line'],
);

/** The schemas of what they take and answer. */
export const overrideSchemas: JsonObject = {
  RunningOverride: runningOverride,
  Overrides: object('The overrides that run.', {
    revision: count('The revision of the account.'),
    overrides: listOf('RunningOverride'),
  }),
  OverrideRequest: object(
    'What is to be held, and why.',
    {
      kind,
      name,
      values: {
        type: 'object',
        description:
          'New values by field: `metric`, `settings.ttl`, `rules[web].enabled`, or `peers[ana-laptop]` with `true` or `false`. References are names, as in documents.',
        additionalProperties: true,
      },
      reason: text('Why, in at most 500 characters.'),
      ttl: text('How long, such as `30m`; 4 hours unless said otherwise, 24 at most.'),
    },
    ['ttl'],
  ),
  OverrideEnd: object(
    'What is to be as stated again.',
    {
      kind,
      name,
      paths: { type: 'array', items: { type: 'string' }, description: 'Which fields; all unless said otherwise.' },
    },
    ['paths'],
  ),
  Overridden: object('The overrides of the object afterwards.', {
    revision: count('The revision of the account.'),
    overrides: listOf('RunningOverride'),
    lasting: {
      type: 'array',
      items: { type: 'string' },
      description: 'Fields that restrict now and stay so until a request loosens them.',
    },
    notices: { type: 'array', items: { type: 'string' }, description: 'What the caller should know.' },
  }),
};
