import { postureResults, ruleActions, testOutcomes, verdicts } from '../../model/declare/access-words.ts';
import { count, optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

const texts = (doc: string) => list(string({ doc: '' }), { doc });

const file = { file: string({ doc: 'Its file.' }), line: count({ doc: 'Where in the file, from 1.' }) };

const place = object(
  { source: string({ doc: 'The source of the document.' }), ...file },
  { doc: 'Where something is declared.', schema: 'AccessPlace' },
);

const placed = {
  id: string({ doc: 'Its id.' }),
  name: string({ doc: 'Its display name.' }),
  declared: list(place, { doc: 'The documents that state it; none when the API made it.' }),
};

const end = object(
  {
    type: string({ doc: 'Its kind, in a word.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    ...placed,
    imagined: optional(boolean({ doc: 'Present and true for a peer that is not there (yet).' })),
    loginExpired: optional(
      boolean({ doc: 'Present and true for a peer that is cut off until its user signs in again.' }),
    ),
  },
  { doc: 'An object that a question or a rule names.', schema: 'AccessEnd' },
);

const rule = object(
  {
    policy: optional(
      object(
        { ...placed, origin: optional(string({ doc: 'The object that it follows from, such as a private service.' })) },
        { doc: 'Its policy; absent for an ingress port, and where a route lets its receivers through by itself.' },
      ),
    ),
    rule: optional(object({ id: placed.id, name: placed.name }, { doc: 'The rule.' })),
    ingressPort: optional(
      object(
        {
          id: placed.id,
          name: placed.name,
          declared: placed.declared,
          standsInFor: optional(
            object(
              { type: string({ doc: 'Its kind, in a word.' }), id: placed.id, name: placed.name },
              { doc: 'The peer that forwards it when it is online.' },
            ),
          ),
        },
        { doc: 'The ingress port by which the peer that forwards it reaches its ports.' },
      ),
    ),
    action: oneOf(ruleActions, { doc: 'What it does.' }),
    direction: oneOf(['forward', 'reverse'], { doc: 'Reverse: from its destinations to its sources.' }),
    traffic: string({ doc: 'What it is about.' }),
    matches: boolean({ doc: 'Whether it speaks about this connection.' }),
    decides: boolean({ doc: 'Whether the answer would be found elsewhere without it.' }),
    almost: optional(
      boolean({
        doc: 'Present and true for a rule that would let it through, but for one thing that can be changed.',
      }),
    ),
    from: list(end, { doc: 'By which of its groups and objects it means who opens.' }),
    to: list(end, { doc: 'By which it means what is reached.' }),
    checks: list(
      object(
        {
          check: end,
          result: oneOf(postureResults, { doc: 'Whether the peer passes.' }),
          parts: texts('The checks that decide.'),
        },
        { doc: 'A posture check.' },
      ),
      { doc: 'What its posture checks say.' },
    ),
    mismatches: texts('Why it does not match.'),
    message: string({ doc: 'What it has to do with the question, in a sentence.' }),
  },
  { doc: 'A rule that was considered.', schema: 'AccessRule' },
);

const verdict = oneOf(verdicts, {
  doc: 'It passes; that depends on posture checks about which not enough is known; it does not; some of it does.',
});

const reason = string({ doc: 'The answer and its reason.' });
const pairs = count({ doc: 'So many pairs.' });

const answer = object(
  {
    revision: count({ doc: 'The revision of the account.' }),
    from: end,
    to: end,
    asked: string({ doc: 'The traffic in question.' }),
    verdict,
    passes: optional(string({ doc: 'What of it passes.' })),
    passesIfPostureAllows: optional(string({ doc: 'What of it passes if posture checks turn out well.' })),
    message: reason,
    obstacles: list(
      object(
        {
          end: oneOf(['from', 'to'], { doc: 'The end that it is about.' }),
          why: string({ doc: 'What it is, in a word.' }),
        },
        { doc: 'An obstacle.' },
      ),
      { doc: 'Why nothing can pass, whatever rules say.' },
    ),
    rules: list(rule, { doc: 'Drops first, because they win; then by the names of policies.' }),
    otherRules: count({ doc: 'How many rules that mean neither end were left out.' }),
    pairs: optional(
      object(
        { allow: pairs, conditional: pairs, deny: pairs, mixed: pairs },
        { doc: 'Where an end is a group: how its members fare.' },
      ),
    ),
    exceptions: optional(
      list(object({ verdict, message: reason }, { doc: 'A pair.' }), {
        doc: 'Members that fare otherwise than the group: one pair of each verdict.',
      }),
    ),
  },
  { doc: 'Whether something may be reached, and why.', schema: 'AccessAnswer' },
);

/** Endpoint of access, or an object that contains endpoints. */
export const accessName = object(
  {
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: placed.name,
  },
  { doc: 'An end, or what holds some.', schema: 'AccessName' },
);

const result = object(
  {
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: placed.name,
    from: accessName,
    to: accessName,
    asked: string({ doc: 'The traffic in question.' }),
    expect: oneOf(['allow', 'deny'], { doc: 'What is expected.' }),
    outcome: oneOf(testOutcomes, { doc: 'What is found; `conditional`: that depends on posture checks.' }),
    message: string({ doc: 'What is expected and found, with the rules that decide and where they are declared.' }),
    file: optional(string({ doc: 'Where the test is declared.' })),
    line: optional(file.line),
  },
  { doc: 'What one access test finds.', schema: 'TestResult' },
);

/** Results of access tests. */
export const testResults = object(
  {
    revision: count({ doc: 'The revision of the account that they were run on, or that documents would change.' }),
    passed: count({ doc: 'Tests that pass.' }),
    failed: count({ doc: 'Tests that fail.' }),
    conditional: count({ doc: 'Tests whose outcome depends on posture checks.' }),
    tests: list(result, { doc: 'Those that fail first.' }),
  },
  { doc: 'What access tests find.', schema: 'TestResults' },
);

/** Result of an access query: whether something is reachable, and why. */
export type AccessAnswer = ValueOf<typeof answer>;

/** Results of all access tests. */
export type TestResults = ValueOf<typeof testResults>;

/** Result of one access test. */
export type TestResult = ValueOf<typeof result>;

const examplePlace = { source: 'office', file: 'policies.yaml', line: 12 };
const exampleEnd = (type: string, id: string, name: string) => ({ type, id, name, declared: [] });
const devsToDb = 'rule `pg` of policy `devs-to-db` lets tcp/5432 through';
const passing = `\`Laptop\` may open tcp/5432 to \`Database\`: ${devsToDb}`;

const exampleAnswer = {
  revision: 18,
  from: exampleEnd('peer', 'ch8i4ug6lnn4g9hqv7n0', 'Laptop'),
  to: exampleEnd('peer', 'ch8i4ug6lnn4g9hqv7ng', 'Database'),
  ...{ asked: 'tcp/5432', verdict: 'allow', passes: 'tcp/5432', message: passing, obstacles: [] },
  rules: [
    {
      policy: { id: 'ch8i4ug6lnn4g9hqv7m0', name: 'devs-to-db', declared: [examplePlace] },
      rule: { id: 'ch8i4ug6lnn4g9hqv7m0', name: 'pg' },
      ...{ action: 'accept', direction: 'forward', traffic: 'tcp/5432', matches: true, decides: true },
      from: [exampleEnd('group', 'ch8i4ug6lnn4g9hqv7l0', 'devs')],
      to: [exampleEnd('group', 'ch8i4ug6lnn4g9hqv7lg', 'db')],
      ...{ checks: [], mismatches: [] },
      message: 'lets tcp/5432 through: `Laptop` is in `devs`, `Database` is in `db`',
    },
  ],
  otherRules: 3,
};

/** Results of access tests, for examples. */
export const testResultsExample = {
  ...{ revision: 18, passed: 1, failed: 0, conditional: 0 },
  tests: [
    {
      ...{ key: 'devs-to-db', name: 'Developers reach the databases', asked: 'tcp/5432', expect: 'allow' },
      from: { kind: 'Group', key: 'devs', name: 'devs' },
      to: { kind: 'Group', key: 'db', name: 'db' },
      outcome: 'pass',
      message: `expects tcp/5432 from \`devs\` to \`db\` to be allowed: ${passing} (policies.yaml:12)`,
      ...{ file: 'tests.yaml', line: 1 },
    },
  ],
};

const whom =
  'a peer, a group, a network resource or a route: its key, name or id, also with the kind in front, or an address or host name that leads there, or a person who has one peer.';

/** Operations that query access and run access tests. */
export const access = {
  explain: defineOperation({
    id: 'explainAccess',
    method: 'GET',
    path: '/api/config/access',
    access: { module: 'config', operation: 'read' },
    summary: 'Say whether one end may open a connection to another, and why',
    doc: 'Names the rules in the order in which they count (drops win), the groups through which each means the two ends, the posture checks that decide, and where all of it is declared. A group is answered for by a peer that is in it and in nothing else, with the number of pairs of its members beside it.',
    query: {
      from: string({ doc: `Who would open it: ${whom}` }),
      to: string({ doc: `What would be reached: ${whom}` }),
      port: optional(
        string({ doc: 'The traffic, such as `tcp/443`, `udp/8000-8010`, `icmp`, `ssh` or `443`; all when left out.' }),
      ),
      all: boolean({ doc: 'Whether rules that mean neither end are shown too.', default: false }),
    },
    answer,
    errors: ['not_found', 'invalid'],
    example: { query: { from: 'Group/All', to: 'Group/All' }, answer: exampleAnswer },
  }),
  runTests: defineOperation({
    id: 'readTests',
    method: 'GET',
    path: '/api/config/tests',
    access: { module: 'config', operation: 'read' },
    summary: 'Run the access tests of the account',
    doc: 'On its state as it is. What depends on what peers reported is `conditional`.',
    answer: testResults,
    example: { answer: testResultsExample },
  }),
};
