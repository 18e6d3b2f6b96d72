import { keysOf } from '../../lib/json.ts';
import { printable } from '../../lib/text/printable.ts';
import type { AccessAnswer } from '../../operations/config/access.ts';
import type { Paint, Style } from '../terminal/paint.ts';
import { positionText } from '../terminal/problems.ts';

type Rule = AccessAnswer['rules'][number];
type Named = Pick<AccessAnswer['from'], 'name' | 'declared'>;
type DeclarationPosition = Named['declared'][number];

const verdictWords: Readonly<Record<AccessAnswer['verdict'], readonly [word: string, style: Style]>> = {
  allow: ['Allowed', 'added'],
  conditional: ['Depends', 'warning'],
  deny: ['Denied', 'removed'],
  mixed: ['In part', 'warning'],
};

/** Returns the answer to an access question as text: whether access is allowed, and why. */
export function renderAccess(answer: AccessAnswer, paint: Paint): string {
  const [word, style] = verdictWords[answer.verdict];
  const { rules, otherRules } = answer;
  const heading = rules.length === 0 ? [] : ['', 'Rules, in order of precedence:'];
  const rest =
    otherRules === 0
      ? []
      : ['', `${otherRules} more rule${otherRules === 1 ? ' concerns' : 's concern'} neither end; --all shows them.`];
  return [
    `${paint(style, `${word}:`)} ${printable(answer.message)}`,
    ...expiredLoginLines(answer, paint),
    ...endLines(answer, paint),
    ...memberPairLines(answer),
    ...heading,
    ...rules.flatMap((rule) => ruleLines(rule, paint)),
    ...rest,
    '',
  ].join('\n');
}

/**
 * Returns a warning for each end whose login has expired: it may have access, but is cut off until its user signs in
 * again.
 */
function expiredLoginLines({ from, to }: AccessAnswer, paint: Paint): readonly string[] {
  return [from, to].flatMap(({ name, loginExpired }) =>
    loginExpired === true
      ? [
          paint(
            'warning',
            `  The login of ${printable(name)} has expired: it is cut off until its user signs in again.`,
          ),
        ]
      : [],
  );
}

function endLines({ from, to }: AccessAnswer, paint: Paint): readonly string[] {
  return [from, to].flatMap((end) => {
    const positions = positionTextsOf(end.declared);
    return positions === '' ? [] : [paint('faint', `  ${printable(end.name)} is stated at ${positions}`)];
  });
}

/** Returns the verdicts on pairs of group members, with examples of exceptions. */
function memberPairLines({ pairs, exceptions = [] }: AccessAnswer): readonly string[] {
  if (pairs === undefined) return [];
  const words = { allow: 'allowed', conditional: 'depending on posture checks', deny: 'denied', mixed: 'in part' };
  const texts = keysOf(words)
    .filter((verdict) => pairs[verdict] > 0)
    .map((verdict) => `${pairs[verdict]} ${words[verdict]}`);
  return [
    `Pairs of their members: ${texts.join(', ')}.`,
    ...exceptions.map(({ message }) => `  for example, ${printable(message)}`),
  ];
}

function ruleLines(rule: Rule, paint: Paint): readonly string[] {
  const { policy, ingressPort, action, traffic, matches, decides, direction } = rule;
  const positions = positionTextsOf((policy ?? ingressPort)?.declared ?? []);
  const style: Style = !matches ? 'faint' : action === 'drop' ? 'removed' : 'added';
  const notes = [...(direction === 'reverse' ? ['in reverse'] : []), ...(decides ? ['decides'] : [])].join(', ');
  return [
    `  ${paint(style, `${action} ${printable(nameOf(rule))}`)}: ${traffic}${positions === '' ? '' : `  ${paint('faint', `(${positions})`)}`}${notes === '' ? '' : `  ${paint('strong', notes)}`}`,
    `      ${printable(rule.message)}`,
    ...(matches ? checkAndDeclarationLines(rule, paint) : []),
  ];
}

function nameOf({ policy, rule, ingressPort }: Rule): string {
  if (ingressPort !== undefined) return `ingress port ${ingressPort.name}`;
  return policy === undefined ? 'the route itself' : `${policy.name} / ${rule?.name ?? ''}`;
}

/**
 * Returns the results of posture checks, and the positions of the declarations of the groups and checks that make the
 * rule match.
 */
function checkAndDeclarationLines({ from, to, checks }: Rule, paint: Paint): readonly string[] {
  const checked = checks.map(({ check, result, parts }) => {
    const why = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
    return `      posture check ${printable(check.name)}: ${result === 'unknown' ? 'not known' : result}${why}`;
  });
  const matching = new Map([...from, ...to, ...checks.map(({ check }) => check)].map((named) => [named.id, named]));
  const stated = [...matching.values()].flatMap((named: Named) => {
    const positions = positionTextsOf(named.declared);
    return positions === '' ? [] : [paint('faint', `      ${printable(named.name)} is stated at ${positions}`)];
  });
  return [...checked, ...stated];
}

function positionTextsOf(declared: readonly DeclarationPosition[]): string {
  return declared.map(({ file, line }) => positionText({ file, line })).join(', ');
}
