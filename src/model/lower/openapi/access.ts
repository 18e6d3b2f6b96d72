import type { Json, JsonObject } from '../../../lib/json.ts';
import { postureResults, ruleActions, testOutcomes, verdicts } from '../../declare/access-words.ts';
import { configExamples } from './config-examples.ts';
import { type Items, json, listOf, named, query } from './operation.ts';
import { count, object, text, words } from './words.ts';

const place = { source: 'office', file: 'policies.yaml', line: 12 };
const end = (type: string, id: string, name: string): JsonObject => ({ type, id, name, declared: [] });

const example = {
  revision: 18,
  from: end('peer', 'ch8i4ug6lnn4g9hqv7n0', 'Laptop'),
  to: end('peer', 'ch8i4ug6lnn4g9hqv7ng', 'Database'),
  asked: 'tcp/5432',
  verdict: 'allow',
  passes: 'tcp/5432',
  message: '`Laptop` may open tcp/5432 to `Database`: rule `pg` of policy `devs-to-db` lets tcp/5432 through',
  obstacles: [],
  rules: [
    {
      policy: { id: 'ch8i4ug6lnn4g9hqv7m0', name: 'devs-to-db', declared: [place] },
      rule: { id: 'ch8i4ug6lnn4g9hqv7m0', name: 'pg' },
      ...{ action: 'accept', direction: 'forward', traffic: 'tcp/5432', matches: true, decides: true },
      from: [end('group', 'ch8i4ug6lnn4g9hqv7l0', 'devs')],
      to: [end('group', 'ch8i4ug6lnn4g9hqv7lg', 'db')],
      ...{ checks: [], mismatches: [] },
      message: 'lets tcp/5432 through: `Laptop` is in `devs`, `Database` is in `db`',
    },
  ],
  otherRules: 3,
} satisfies Json;

const results = {
  ...{ revision: 18, passed: 1, failed: 0, conditional: 0 },
  tests: [
    {
      ...{ key: 'devs-to-db', name: 'Developers reach the databases', asked: 'tcp/5432', expect: 'allow' },
      from: { kind: 'Group', key: 'devs', name: 'devs' },
      to: { kind: 'Group', key: 'db', name: 'db' },
      outcome: 'pass',
      message:
        'expects tcp/5432 from `devs` to `db` to be allowed: `Laptop` may open tcp/5432 to `Database`: rule `pg` of policy `devs-to-db` lets tcp/5432 through (policies.yaml:12)',
      ...{ file: 'tests.yaml', line: 1 },
    },
  ],
} satisfies Json;

/** A parameter that a question cannot do without. */
const needed = (name: string, description: string): JsonObject => ({
  ...query(name, description),
  required: true,
  example: 'Group/All',
});

const whom =
  'a peer, a group, a network resource or a route: its key, name or id, also with the kind in front, or an address or host name that leads there, or a person who has one peer.';

/** The endpoint for questions about who may reach whom, and why. */
export const accessItems: Items = {
  '/api/config/access': {
    get: {
      id: 'explainAccess',
      tag: 'config',
      summary: 'Say whether one end may open a connection to another, and why',
      description:
        'Names the rules in the order in which they count (drops win), the groups through which each means the two ends, the posture checks that decide, and where all of it is declared. A group is answered for by a peer that is in it and in nothing else, with the number of pairs of its members beside it.',
      parameters: [
        needed('from', `Who would open it: ${whom}`),
        needed('to', `What would be reached: ${whom}`),
        query('port', 'The traffic, such as `tcp/443`, `udp/8000-8010`, `icmp`, `ssh` or `443`; all when left out.'),
        query('all', 'Whether rules that mean neither end are told too.', { type: 'boolean' }),
      ],
      answer: json(named('AccessAnswer'), example),
      errors: [401, 403, 404, 422, 429, 503],
    },
  },
  '/api/config/tests': {
    get: {
      id: 'readTests',
      tag: 'config',
      summary: 'Run the access tests of the account',
      description: 'On its state as it is. What depends on what peers told is `conditional`.',
      answer: json(named('TestResults'), results),
      errors: [401, 403, 429, 503],
    },
    post: {
      id: 'runTests',
      tag: 'config',
      summary: 'Run access tests on what documents lead to',
      description: 'Nothing is written or kept; documents with a fault are refused (422).',
      body: json(named('DocumentFiles'), configExamples.files),
      answer: json(named('TestResults'), results),
      errors: [400, 401, 403, 413, 415, 422, 429, 503],
    },
  },
};

const meaning =
  'It passes; that depends on posture checks about which not enough is known; it does not; some of it does.';

const placed = {
  type: text('Its kind, in a word.'),
  id: text('Its id.'),
  name: text('Its display name.'),
  key: text('Its `metadata.name`, when it has one.'),
  declared: { ...listOf('AccessPlace'), description: 'The documents that state it; none when the API made it.' },
};

const sides = { type: 'string', enum: ['from', 'to'], description: 'The end that it is about.' };

/** The schemas of its answer. */
export const accessSchemas: JsonObject = {
  AccessPlace: object('Where something is declared.', {
    source: text('The source of the document.'),
    file: text('Its file.'),
    line: count('Where in the file, from 1.'),
  }),
  AccessEnd: object(
    'An object that a question or a rule names.',
    {
      ...placed,
      imagined: { type: 'boolean', description: 'Present and true for a peer that is not there (yet).' },
      loginExpired: {
        type: 'boolean',
        description: 'Present and true for a peer that is cut off until its user signs in again.',
      },
    },
    ['key', 'imagined', 'loginExpired'],
  ),
  TestResults: object('What access tests find.', {
    revision: count('The revision of the account.'),
    passed: count('Tests that pass.'),
    failed: count('Tests that fail.'),
    conditional: count('Tests whose outcome depends on posture checks.'),
    tests: { ...listOf('TestResult'), description: 'Those that fail first.' },
  }),
  TestResult: object(
    'What one access test finds.',
    {
      key: placed.key,
      name: placed.name,
      from: named('AccessName'),
      to: named('AccessName'),
      asked: text('The traffic in question.'),
      expect: words(['allow', 'deny'], 'What is expected.'),
      outcome: words(testOutcomes, 'What is found.'),
      message: text('What is expected and found, with the rules that decide and where they are declared.'),
      file: text('Where the test is declared.'),
      line: count('Where in the file, from 1.'),
    },
    ['key', 'file', 'line'],
  ),
  AccessRule: object(
    'A rule that was considered.',
    {
      policy: object(
        'Its policy; absent where a route lets its receivers through by itself.',
        {
          id: placed.id,
          name: placed.name,
          declared: placed.declared,
          origin: text('The object that it follows from, such as a private service.'),
        },
        ['origin'],
      ),
      rule: object('The rule.', { id: placed.id, name: placed.name }),
      action: words(ruleActions, 'What it does.'),
      direction: words(['forward', 'reverse'], 'Reverse: from its destinations to its sources.'),
      traffic: text('What it is about.'),
      matches: { type: 'boolean', description: 'Whether it speaks about this connection.' },
      decides: { type: 'boolean', description: 'Whether the answer would be found elsewhere without it.' },
      almost: {
        type: 'boolean',
        description: 'Present and true for a rule that would let it through, but for one thing that can be changed.',
      },
      from: { ...listOf('AccessEnd'), description: 'By which of its groups and objects it means who opens.' },
      to: { ...listOf('AccessEnd'), description: 'By which it means what is reached.' },
      checks: {
        type: 'array',
        description: 'What its posture checks say.',
        items: object('A posture check.', {
          check: named('AccessEnd'),
          result: words(postureResults, 'Whether the peer passes.'),
          parts: { type: 'array', items: { type: 'string' }, description: 'The checks that decide.' },
        }),
      },
      mismatches: { type: 'array', items: { type: 'string' }, description: 'Why it does not match.' },
      message: text('What it has to do with the question, in a sentence.'),
    },
    ['policy', 'rule', 'almost'],
  ),
  AccessAnswer: object(
    'Whether something may be reached, and why.',
    {
      revision: count('The revision of the account.'),
      from: named('AccessEnd'),
      to: named('AccessEnd'),
      asked: text('The traffic in question.'),
      verdict: words(verdicts, meaning),
      passes: text('What of it passes.'),
      passesIfPostureAllows: text('What of it passes if posture checks turn out well.'),
      message: text('The answer and its reason.'),
      obstacles: {
        type: 'array',
        description: 'Why nothing can pass, whatever rules say.',
        items: object('An obstacle.', { end: sides, why: text('What it is, in a word.') }),
      },
      rules: { ...listOf('AccessRule'), description: 'Drops first, because they win; then by the names of policies.' },
      otherRules: count('How many rules that mean neither end were left out.'),
      pairs: object(
        'Where an end is a group: how its members fare.',
        Object.fromEntries(verdicts.map((verdict) => [verdict, count('So many pairs.')])),
      ),
      exceptions: {
        type: 'array',
        description: 'Members that fare otherwise than the group: one pair of each verdict.',
        items: object('A pair.', { verdict: words(verdicts, meaning), message: text('The answer and its reason.') }),
      },
    },
    ['passes', 'passesIfPostureAllows', 'pairs', 'exceptions'],
  ),
};
