import { postureResults, ruleActions, testOutcomes, verdicts } from '../../model/declare/access-words.ts';
import { count, optional } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { boolean, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

const textList = (doc: string) => list(string({ doc: '' }), { doc });

const file = { file: string({ doc: 'Its file.' }), line: count({ doc: 'Line number in the file, from 1.' }) };

const declarationPosition = object(
  { source: string({ doc: 'The source of the document.' }), ...file },
  { doc: 'Place of a declaration.', schema: 'AccessPlace' },
);

const declaredFields = {
  id: string({ doc: 'Its id.' }),
  name: string({ doc: 'Its display name.' }),
  declared: list(declarationPosition, {
    doc: 'Documents that state the object; empty when it was created through the API.',
  }),
};

const endpoint = object(
  {
    type: string({ doc: 'Its kind, in a word.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    ...declaredFields,
    imagined: optional(boolean({ doc: 'True for a hypothetical peer that does not exist (yet). Otherwise absent.' })),
    loginExpired: optional(
      boolean({ doc: 'True for a peer that is cut off until its user signs in again. Otherwise absent.' }),
    ),
  },
  { doc: 'Object that a query or a rule names.', schema: 'AccessEnd' },
);

const rule = object(
  {
    policy: optional(
      object(
        {
          ...declaredFields,
          origin: optional(string({ doc: 'Object from which the policy is derived, such as a private service.' })),
        },
        {
          doc: 'Policy of the rule. Absent for an ingress port, and for a route without access control groups, which lets all its receivers through.',
        },
      ),
    ),
    rule: optional(object({ id: declaredFields.id, name: declaredFields.name }, { doc: 'The rule.' })),
    ingressPort: optional(
      object(
        {
          id: declaredFields.id,
          name: declaredFields.name,
          declared: declaredFields.declared,
          standsInFor: optional(
            object(
              { type: string({ doc: 'Its kind, in a word.' }), id: declaredFields.id, name: declaredFields.name },
              { doc: 'Peer that normally forwards the traffic; another peer forwards it while this one is offline.' },
            ),
          ),
        },
        {
          doc: 'Ingress port to which the rule belongs: the forwarding peer may reach the ports to which it forwards.',
        },
      ),
    ),
    action: oneOf(ruleActions, { doc: 'Action of the rule.' }),
    direction: oneOf(['forward', 'reverse'], { doc: '`reverse`: from the destinations of the rule to its sources.' }),
    traffic: string({ doc: 'Traffic to which the rule applies.' }),
    matches: boolean({ doc: 'Whether the rule applies to this connection.' }),
    decides: boolean({
      doc: 'Whether the rule decides the answer: it accepts traffic that passes, or drops traffic that would pass otherwise.',
    }),
    almost: optional(
      boolean({
        doc: 'True for a rule that would let the traffic through except for one mismatch that can be removed. Otherwise absent.',
      }),
    ),
    from: list(endpoint, { doc: 'Groups and objects of the rule that cover the source of the connection.' }),
    to: list(endpoint, { doc: 'Groups and objects of the rule that cover the destination of the connection.' }),
    checks: list(
      object(
        {
          check: endpoint,
          result: oneOf(postureResults, { doc: 'Whether the peer passes.' }),
          parts: textList('Parts of the posture check that decide the result.'),
        },
        { doc: 'A posture check.' },
      ),
      { doc: 'Results of the posture checks of the rule.' },
    ),
    mismatches: textList('Reasons why the rule does not match.'),
    message: string({
      doc: 'Effect of the rule on the queried traffic, or the reason why it has none, as a sentence.',
    }),
  },
  { doc: 'A rule that was considered.', schema: 'AccessRule' },
);

const verdict = oneOf(verdicts, {
  doc: '`allow`: the traffic passes. `conditional`: it depends on posture checks with unknown results. `deny`: it does not pass. `mixed`: only a part of it passes.',
});

const reason = string({ doc: 'Answer with its reason, as a sentence.' });
const pairs = count({ doc: 'Number of pairs.' });

const answer = object(
  {
    revision: count({ doc: 'The revision of the account.' }),
    from: endpoint,
    to: endpoint,
    asked: string({ doc: 'Queried traffic.' }),
    verdict,
    passes: optional(string({ doc: 'Part of the traffic that passes. Absent when none passes.' })),
    passesIfPostureAllows: optional(
      string({ doc: 'Part of the traffic that passes only if posture checks pass. Absent when there is none.' }),
    ),
    message: reason,
    obstacles: list(
      object(
        {
          end: oneOf(['from', 'to'], { doc: 'End to which the obstacle applies.' }),
          why: string({ doc: 'Obstacle in one word.' }),
        },
        { doc: 'An obstacle.' },
      ),
      { doc: 'Reasons why no traffic can pass, independently of rules.' },
    ),
    rules: list(rule, {
      doc: 'Considered rules: drops first, because they take precedence; then by names of policies.',
    }),
    otherRules: count({ doc: 'Number of omitted rules that cover neither end.' }),
    pairs: optional(
      object(
        { allow: pairs, conditional: pairs, deny: pairs, mixed: pairs },
        { doc: 'Numbers of pairs of members by verdict, when an end is a group.' },
      ),
    ),
    exceptions: optional(
      list(object({ verdict, message: reason }, { doc: 'A pair.' }), {
        doc: 'Pairs of members with a verdict other than that of the group, one pair for each verdict.',
      }),
    ),
  },
  { doc: 'Whether a connection is allowed, and why.', schema: 'AccessAnswer' },
);

/** Endpoint of access, or an object that contains endpoints. */
export const accessName = object(
  {
    kind: string({ doc: 'Its kind.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: declaredFields.name,
  },
  { doc: 'An end, or an object that contains ends.', schema: 'AccessName' },
);

const result = object(
  {
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: declaredFields.name,
    from: accessName,
    to: accessName,
    asked: string({ doc: 'Tested traffic.' }),
    expect: oneOf(['allow', 'deny'], { doc: 'Expected result.' }),
    outcome: oneOf(testOutcomes, { doc: 'Actual result; `conditional`: it depends on posture checks.' }),
    message: string({
      doc: 'Expected and actual result, with the deciding rules and the places of their declarations.',
    }),
    file: optional(string({ doc: 'File that declares the test.' })),
    line: optional(file.line),
  },
  { doc: 'Result of one access test.', schema: 'TestResult' },
);

/** Results of access tests. */
export const testResults = object(
  {
    revision: count({ doc: 'Account revision on which the tests ran, or which the documents would change.' }),
    passed: count({ doc: 'Number of tests that pass.' }),
    failed: count({ doc: 'Number of tests that fail.' }),
    conditional: count({ doc: 'Number of tests with a result that depends on posture checks.' }),
    tests: list(result, { doc: 'Results of the tests, failing tests first.' }),
  },
  { doc: 'Results of access tests.', schema: 'TestResults' },
);

/** Result of an access query: whether something is reachable, and why. */
export type AccessAnswer = ValueOf<typeof answer>;

/** Results of all access tests. */
export type TestResults = ValueOf<typeof testResults>;

/** Result of one access test. */
export type TestResult = ValueOf<typeof result>;

const examplePosition = { source: 'office', file: 'policies.yaml', line: 12 };
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
      policy: { id: 'ch8i4ug6lnn4g9hqv7m0', name: 'devs-to-db', declared: [examplePosition] },
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

const endpointDoc =
  'a peer, a group, a network resource or a route, by its key, name or id (also with the kind in front) or by an address or host name that it covers; or a person who has one peer.';

/** Operations that query access and run access tests. */
export const access = {
  explain: defineOperation({
    id: 'explainAccess',
    method: 'GET',
    path: '/api/config/access',
    access: { module: 'config', operation: 'read' },
    summary: 'Explain whether one end may open a connection to another',
    doc: 'Lists the rules in their order of precedence (drops first), the groups through which each rule covers the two ends, the posture checks that decide, and the places of all declarations. For a group, the answer is that for a peer in this group only, with the numbers of pairs of its members.',
    query: {
      from: string({ doc: `Source of the connection: ${endpointDoc}` }),
      to: string({ doc: `Destination of the connection: ${endpointDoc}` }),
      port: optional(
        string({ doc: 'Traffic, such as `tcp/443`, `udp/8000-8010`, `icmp`, `ssh` or `443`. Default: all traffic.' }),
      ),
      all: boolean({ doc: 'Whether rules that cover neither end are shown too.', default: false }),
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
    doc: 'Uses the current state of the account. Results that depend on facts reported by peers are `conditional`.',
    answer: testResults,
    example: { answer: testResultsExample },
  }),
};
