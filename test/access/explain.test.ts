import { describe, expect, it } from 'vitest';
import { describeAccess } from '../../src/access/explain/describe.ts';
import { explainAccess, type Question } from '../../src/access/explain/explain.ts';
import { judgeAccess, testAccess } from '../../src/access/explain/test-access.ts';
import { runTests } from '../../src/access/explain/tests.ts';
import type { PeerFacts } from '../../src/access/ruleset/facts.ts';
import { runToEnd } from '../../src/lib/steps.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { peer, stored } from '../kinds/objects.ts';
import { accessOf, officeWith, only, policy } from './office.ts';

const postgres: Omit<Question, 'from' | 'to'> = { protocol: 'tcp', ports: [{ start: 5432, end: 5432 }] };
const toDatabases = { ports: ['5432'], sources: ['developers'], destinations: ['databases'] };

interface Known {
  readonly facts?: Readonly<Record<string, PeerFacts>>;
}

function explained(objects: readonly StoredObject[], question: Question, { facts = {} }: Known = {}) {
  return describeAccess(explainAccess(accessOf(officeWith(...objects), facts), question));
}

/** Returns the messages about the rules of a policy that is added to the office. */
function ruleMessage(
  object: StoredObject,
  question: Question = { from: 'ana', to: 'db', ...postgres },
  known: Known = {},
) {
  return explained([object], question, known).rules.map(({ message }) => message);
}

describe('an access explanation', () => {
  it('excludes a temporary peer from the accept rules of its groups, but not from their drop rules', () => {
    const temporary = { ...peer('ben'), derived: { temporary: true } };
    const [open, closed] = [policy('Data', toDatabases), policy('Never', { ...toDatabases, action: 'drop' })];
    const lone = policy('Lone', { ports: ['5432'], sourceResource: only('ben'), destinations: ['databases'] });
    const { verdict, rules } = explained([temporary, open, lone], { from: 'ben', to: 'db', ...postgres });
    expect([verdict, rules.map(({ message }) => message)]).toEqual([
      'allow',
      [
        '`Peer ben` is not among its sources: it is a temporary peer for access to one peer, and permissions of groups do not apply to it',
        expect.stringContaining('lets tcp/5432 through'),
      ],
    ]);
    expect(explained([temporary, closed, lone], { from: 'ben', to: 'db', ...postgres }).verdict).toBe('deny');
  });

  it('names the rule that accepts the traffic, the groups of both ends, and where the rule is declared', () => {
    const declared = [{ source: 'git', stated: {}, file: 'policies.yaml', line: 12 }];
    const object = { ...policy('Data', toDatabases), declared };
    expect(explained([object], { from: 'ana', to: 'db', ...postgres })).toEqual({
      from: { type: 'peer', id: 'ana', name: 'Peer ana' },
      to: { type: 'peer', id: 'db', name: 'Peer db' },
      asked: 'tcp/5432',
      verdict: 'allow',
      passes: 'tcp/5432',
      message: '`Peer ana` may open tcp/5432 to `Peer db`: rule `main` of policy `Data` lets tcp/5432 through',
      obstacles: [],
      rules: [
        {
          policy: { id: 'Data', name: 'Data', declared: [{ source: 'git', file: 'policies.yaml', line: 12 }] },
          rule: { id: 'Data', name: 'main' },
          action: 'accept',
          direction: 'forward',
          traffic: 'tcp/5432',
          matches: true,
          decides: true,
          from: [{ type: 'group', id: 'developers', name: 'developers' }],
          to: [{ type: 'group', id: 'databases', name: 'databases' }],
          checks: [],
          mismatches: [],
          message: 'lets tcp/5432 through: `Peer ana` is in `developers`, `Peer db` is in `databases`',
        },
      ],
    });
  });

  it('names a rule that matches in both directions once as the reason', () => {
    const both = ['developers', 'databases'];
    const object = policy('Data', { ports: ['5432'], sources: both, destinations: both, bidirectional: true });
    const { message, rules } = explained([object], { from: 'ana', to: 'db', ...postgres });
    expect(rules.map(({ decides }) => decides)).toEqual([true, true]);
    expect(message).toBe(
      '`Peer ana` may open tcp/5432 to `Peer db`: rule `main` of policy `Data` lets tcp/5432 through',
    );
  });

  it('states why each rule does not apply', () => {
    const reversed = { ports: ['5432'], sources: ['databases'], destinations: ['developers'] };
    expect(ruleMessage(policy('p', toDatabases, { enabled: false }))).toEqual(['the policy is disabled']);
    expect(ruleMessage(policy('p', { ...toDatabases, enabled: false }))).toEqual(['the rule is disabled']);
    expect(ruleMessage(policy('p', { ...toDatabases, ports: ['80'] }))).toEqual([
      'applies to tcp/80, not to the traffic in question',
    ]);
    expect(ruleMessage(policy('p', { ...toDatabases, sources: ['contractors'] }))).toEqual([
      '`Peer ana` is not among its sources',
    ]);
    expect(ruleMessage(policy('p', { ...toDatabases, destinations: ['files'] }))).toEqual([
      '`Peer db` is not among its destinations',
    ]);
    expect(ruleMessage(policy('p', reversed))).toEqual([
      '`Peer ana` is not among its sources; `Peer db` is not among its destinations; it only applies from `Peer db` to `Peer ana`; with `bidirectional` it would apply in both directions',
    ]);
    expect(ruleMessage(policy('p', { ...reversed, bidirectional: true }))).toEqual([
      'lets tcp/5432 through: `Peer ana` is in `developers`, `Peer db` is in `databases`',
    ]);
    expect(
      ruleMessage(policy('p', { ports: ['5432'], sourceResource: only('ana'), destinations: ['databases'] })),
    ).toEqual(['lets tcp/5432 through: `Peer ana` is named directly, `Peer db` is in `databases`']);
  });

  it('lets drop rules win, and marks the accept rules that they overrule', () => {
    const freeze = policy('Freeze', { action: 'drop', protocol: 'all', sources: ['All'], destinations: ['databases'] });
    const { verdict, message, rules } = explained([policy('Data', toDatabases), freeze], {
      from: 'ana',
      to: 'db',
      ...postgres,
    });
    expect(verdict).toBe('deny');
    expect(message).toBe(
      '`Peer ana` may not open tcp/5432 to `Peer db`: rule `main` of policy `Freeze` drops tcp/5432',
    );
    expect(rules.map((rule) => [rule.policy?.id, rule.decides, rule.message])).toEqual([
      ['Freeze', true, 'drops tcp/5432: `Peer ana` is in `All`, `Peer db` is in `databases`'],
      [
        'Data',
        false,
        'lets tcp/5432 through, but drop rules take precedence: `Peer ana` is in `developers`, `Peer db` is in `databases`',
      ],
    ]);
    expect(ruleMessage(freeze)).toEqual([
      'drops tcp/5432, which no rule lets through: `Peer ana` is in `All`, `Peer db` is in `databases`',
    ]);
  });

  it('names the rules that would accept the traffic, and why they do not apply', () => {
    const question = { from: 'ana', to: 'db', ...postgres };
    const checked = policy('Checked', toDatabases, { source_posture_checks: ['recent'] });
    const others = [
      policy('Off', toDatabases, { enabled: false }),
      policy('Web', { ...toDatabases, ports: ['80'] }, { enabled: false }),
      policy('Zero', { ...toDatabases, enabled: false }),
    ];
    expect(explained([checked, ...others], question, { facts: { ana: { clientVersion: '1.0' } } }).message).toBe(
      '`Peer ana` may not open tcp/5432 to `Peer db`: no rule lets it through; rule `main` of policy `Checked` would, but `Peer ana` does not pass `recent` (client_version_check); rule `main` of policy `Off` would, but the policy is disabled',
    );
  });

  it('describes either what passes or what does not, whichever is shorter', () => {
    const open = policy('Open', { protocol: 'all', sources: ['developers'], destinations: ['databases'] });
    const drop = policy('Drop', { ...toDatabases, action: 'drop' });
    const all = { from: 'ana', to: 'db' };
    expect(explained([open, drop], all).message).toContain('may open all to `Peer db` only in part, not tcp/5432: ');
    const some = explained([policy('Data', toDatabases)], all);
    expect(some.message).toContain('may open all to `Peer db` only in part, namely tcp/5432: ');
  });

  it('names no conditional rule when another rule decides for certain', () => {
    const checks = { source_posture_checks: ['recent'] };
    const both = [policy('Checked', toDatabases, checks), policy('Plain', toDatabases)];
    const question = { from: 'ana', to: 'db', ...postgres };
    const allowed = explained(both, question);
    expect(allowed.message).toBe(
      '`Peer ana` may open tcp/5432 to `Peer db`: rule `main` of policy `Plain` lets tcp/5432 through',
    );
    expect(allowed.rules.map(({ decides, message }) => [decides, message.split(': ')[0]])).toEqual([
      [false, 'lets tcp/5432 through if `Peer ana` passes `recent`, which is not known, but that passes anyway'],
      [true, 'lets tcp/5432 through'],
    ]);
    const drop = { ...toDatabases, action: 'drop' };
    const dropped = explained([...both, policy('Freeze', drop), policy('Maybe', drop, checks)], question);
    expect(dropped.message).toBe(
      '`Peer ana` may not open tcp/5432 to `Peer db`: rule `main` of policy `Freeze` drops tcp/5432',
    );
    expect(dropped.rules.map(({ decides }) => decides)).toEqual([true, false, false, false]);
    expect(dropped.rules[1]?.message).toContain('which is not known, but that is dropped anyway: ');
  });

  it('E152 names the posture check that decides, and does not guess its result', () => {
    const checked = policy('Data', toDatabases, { source_posture_checks: ['recent'] });
    const question = { from: 'ana', to: 'db', ...postgres };
    const unknown = explained([checked], question);
    expect(unknown.verdict).toBe('conditional');
    expect(unknown.passesIfPostureAllows).toBe('tcp/5432');
    expect(unknown.message).toBe(
      'whether `Peer ana` may open tcp/5432 to `Peer db` depends on posture checks: rule `main` of policy `Data` lets tcp/5432 through if `Peer ana` passes `recent`, which is not known',
    );
    expect(unknown.rules[0]?.checks).toEqual([
      { check: { type: 'posture', id: 'recent', name: 'recent' }, result: 'unknown', parts: ['client_version_check'] },
    ]);
    expect(explained([checked], question, { facts: { ana: { clientVersion: '1.5' } } }).verdict).toBe('allow');
    expect(ruleMessage(checked, question, { facts: { ana: { clientVersion: '1.3' } } })).toEqual([
      '`Peer ana` does not pass `recent` (client_version_check)',
    ]);
    const back = policy('Data', { ...toDatabases, bidirectional: true }, { source_posture_checks: ['recent'] });
    expect(
      ruleMessage(back, { from: 'db', to: 'ana', ...postgres }, { facts: { ana: { clientVersion: '1.3' } } }),
    ).toEqual(['`Peer ana` does not pass `recent` (client_version_check)']);
  });

  it('states how much of the requested traffic passes', () => {
    const { verdict, message } = explained([policy('Data', toDatabases)], { from: 'ana', to: 'db', protocol: 'tcp' });
    expect(verdict).toBe('mixed');
    expect(message).toBe(
      '`Peer ana` may open tcp to `Peer db` only in part, namely tcp/5432: rule `main` of policy `Data` lets tcp/5432 through',
    );
    expect(explained([], { from: 'ana', to: 'db' }).message).toBe(
      '`Peer ana` may not open all to `Peer db`: no rule lets it through',
    );
  });

  const everywhere = policy('p', { protocol: 'all', sources: ['All'], destinations: ['All', 'files'] });
  const server = (change: object) => {
    const spec = { network: 'net', name: 'server', address: '10.20.0.10', enabled: true, groups: ['files'], ...change };
    return stored('NetworkResource', 'server', spec, { parent: 'net' });
  };
  it.each<[string, string, string, readonly StoredObject[]]>([
    [
      '`Peer new` waits for approval',
      'new',
      'db',
      [stored('Peer', 'new', { name: 'Peer new', approval_required: true })],
    ],
    ['`server` is disabled', 'ana', 'server', [server({ enabled: false })]],
    ['no active peer routes traffic to `server`', 'ana', 'server', [stored('Group', 'gateways', { name: 'gateways' })]],
    ['`server` is not a peer, and only peers open connections', 'server', 'ana', []],
    ['both ends are the same', 'ana', 'ana', []],
    ['`Peer db` is in none of the groups that receive `internet`', 'db', 'exit', []],
  ])('states what blocks the traffic regardless of the rules: %s', (reason, from, to, objects) => {
    const { verdict, message } = explained([everywhere, ...objects], { from, to });
    expect(verdict).toBe('deny');
    expect(message).toMatch(/ may not open all to /);
    expect(message.endsWith(`: ${reason}`)).toBe(true);
  });

  it('covers resources and routes', () => {
    const files = policy('Files', { ports: ['445'], sources: ['developers'], destinations: ['files'] });
    expect(
      explained([files], { from: 'ana', to: 'server', protocol: 'tcp', ports: [{ start: 445, end: 445 }] }).message,
    ).toBe('`Peer ana` may open tcp/445 to `server`: rule `main` of policy `Files` lets tcp/445 through');
    expect(explained([], { from: 'ana', to: 'exit' }).message).toBe(
      '`Peer ana` may open all to `internet`: the route itself lets all through',
    );
  });

  it('assumes an imaginary peer for a group, and accepts a peer that has not enrolled', () => {
    const data = policy('Data', toDatabases);
    expect(explained([data], { from: 'developers', to: 'db', ...postgres }).message).toBe(
      'a peer of `developers` may open tcp/5432 to `Peer db`: rule `main` of policy `Data` lets tcp/5432 through',
    );
    const pending = stored('Group', 'developers', { name: 'developers', peers: ['ana', 'later'] });
    expect(explained([data, pending], { from: 'later', to: 'db', ...postgres }).message).toBe(
      '`later` (not enrolled) may open tcp/5432 to `Peer db`: rule `main` of policy `Data` lets tcp/5432 through',
    );
  });

  it('names the object from which a policy is derived', () => {
    const derived = { ...policy('Access to wiki', { ...toDatabases }), derived: { derived_from: 'wiki' } };
    expect(explained([derived], { from: 'ana', to: 'db', ...postgres }).rules[0]?.policy).toEqual({
      id: 'Access to wiki',
      name: 'Access to wiki',
      origin: 'wiki',
      declared: [],
    });
  });
});

describe('an access test', () => {
  it('includes temporary peers of a group when it expects `deny`, but not when it expects `allow`', () => {
    const temporary = { ...peer('ben'), derived: { temporary: true } };
    const ends = { from: 'developers', to: 'databases', protocol: 'tcp', port: '5432' };
    const tests = (['allow', 'deny'] as const).map((expected) =>
      stored('AccessTest', expected, { name: expected, ...ends, expect: expected }),
    );
    const outcomes = (...objects: readonly StoredObject[]) =>
      [...runToEnd(runTests(accessOf(officeWith(temporary, ...objects)), tests))].map(({ outcome }) => outcome);
    const lone = policy('Lone', { ports: ['5432'], sourceResource: only('ben'), destinations: ['databases'] });
    expect(outcomes()).toEqual(['fail', 'pass']);
    expect(outcomes(policy('Data', toDatabases))).toEqual(['pass', 'fail']);
    expect(outcomes(lone)).toEqual(['fail', 'fail']);
  });

  const judged = (objects: readonly StoredObject[], question: Question, expected: 'allow' | 'deny', facts = {}) => {
    const { outcome, decided, result } = judgeAccess(
      testAccess(accessOf(officeWith(...objects), facts), question),
      expected,
    );
    return {
      outcome,
      verdict: result.verdict,
      pairs: result.pairs,
      message: decided && describeAccess(decided).message,
    };
  };
  const question = { from: 'developers', to: 'databases', ...postgres };

  it('E151 requires every pair of two groups to be allowed, and names the first denied pair and the deciding rule', () => {
    expect(judged([policy('Data', toDatabases)], question, 'allow')).toEqual({
      outcome: 'pass',
      verdict: 'allow',
      pairs: { allow: 2, conditional: 0, deny: 0, mixed: 0 },
      message: '`Peer ana` may open tcp/5432 to `Peer db`: rule `main` of policy `Data` lets tcp/5432 through',
    });
    const ban = policy('Ban', {
      action: 'drop',
      protocol: 'all',
      sourceResource: only('ben'),
      destinations: ['databases'],
    });
    expect(judged([policy('Data', toDatabases), ban], question, 'allow')).toEqual({
      outcome: 'fail',
      verdict: 'mixed',
      pairs: { allow: 1, conditional: 0, deny: 1, mixed: 0 },
      message: '`Peer ben` may not open tcp/5432 to `Peer db`: rule `main` of policy `Ban` drops tcp/5432',
    });
  });

  it('fails on an expected `deny` when any pair or any part of the traffic passes', () => {
    expect(judged([], question, 'deny').outcome).toBe('pass');
    expect(judged([policy('Data', toDatabases)], question, 'deny')).toMatchObject({
      outcome: 'fail',
      verdict: 'allow',
    });
    expect(judged([policy('Data', toDatabases)], { ...question, ports: [] }, 'deny')).toMatchObject({
      outcome: 'fail',
      verdict: 'mixed',
      message: expect.stringContaining('only in part'),
    });
  });

  it('E152 is conditional when posture checks decide and too little is known about the peers', () => {
    const checked = policy('Data', toDatabases, { source_posture_checks: ['recent'] });
    expect(judged([checked], question, 'allow').outcome).toBe('conditional');
    expect(judged([checked], question, 'deny').outcome).toBe('conditional');
    expect(judged([checked], question, 'allow', { ana: { clientVersion: '1.5' } }).pairs).toMatchObject({
      allow: 1,
      conditional: 1,
    });
    expect(judged([checked], question, 'allow', { ana: { clientVersion: '1.3' } }).outcome).toBe('fail');
  });

  it('has a result before any peer has enrolled', () => {
    const contractors = { from: 'contractors', to: 'databases', ...postgres };
    expect(judged([policy('Data', toDatabases)], contractors, 'deny')).toMatchObject({
      outcome: 'pass',
      message: 'a peer of `contractors` may not open tcp/5432 to `Peer db`: no rule lets it through',
    });
    expect(judged([policy('Data', { ...toDatabases, sources: ['All'] })], contractors, 'deny').outcome).toBe('fail');
    const alone = { from: 'databases', to: 'databases', protocol: 'icmp' } as const;
    expect(judged([], alone, 'allow')).toMatchObject({ outcome: 'fail', pairs: { deny: 1 } });
  });

  it('includes peers that wait for approval and disabled resources only when they are named directly', () => {
    const waiting = stored('Peer', 'new', { name: 'Peer new', approval_required: true });
    const developers = stored('Group', 'developers', { name: 'developers', peers: ['ana', 'ben', 'new'] });
    const objects = [policy('Data', toDatabases), waiting, developers, peer('other', '100.64.0.9')];
    expect(judged(objects, question, 'allow').outcome).toBe('pass');
    expect(judged(objects, { ...question, from: 'new' }, 'allow').outcome).toBe('fail');
  });

  it('tests each member of a group separately against an imaginary peer', () => {
    const objects = [
      peer('db2', '100.64.0.5'),
      stored('Group', 'databases', { name: 'databases', peers: ['db', 'db2'] }),
      policy('Data', { ...toDatabases, sources: ['contractors'], destinations: [], destinationResource: only('db2') }),
    ];
    expect(judged(objects, { from: 'contractors', to: 'databases', ...postgres }, 'allow')).toEqual({
      outcome: 'fail',
      verdict: 'mixed',
      pairs: { allow: 1, conditional: 0, deny: 1, mixed: 0 },
      message: 'a peer of `contractors` may not open tcp/5432 to `Peer db`: no rule lets it through',
    });
  });

  it('does not count an end in the target group as a pair with itself', () => {
    const alone = stored('Group', 'files', { name: 'files' });
    expect(judged([alone], { from: 'server', to: 'files', ...postgres }, 'deny')).toMatchObject({
      pairs: { deny: 1 },
      message:
        '`server` may not open tcp/5432 to a peer of `files`: `server` is not a peer, and only peers open connections',
    });
  });
});
