import type { NamedObject } from '../../../access/evaluate/named.ts';
import { parseTraffic } from '../../../access/evaluate/parse-traffic.ts';
import { type DescribedAccess, type DescribedRule, describeAccess } from '../../../access/explain/describe.ts';
import { explainAccess, type Question, type Verdict } from '../../../access/explain/explain.ts';
import { testAccess } from '../../../access/explain/test-access.ts';
import { kindOf } from '../../../access/ruleset/object-readers.ts';
import type { Call, Engine } from '../../../commit/engine.ts';
import { verdicts } from '../../../model/declare/access-words.ts';
import { InvalidInput } from '../../../model/errors.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import { requireRight } from '../../../plan/checks/authorize.ts';
import { findEndpointOrPerson } from './find-person.ts';

/** Position of a declaration. */
export interface DeclarationPosition {
  readonly source: string;
  readonly file: string;
  readonly line: number;
}

/** An object of an answer, with its key and the positions of its declarations. */
export interface DeclaredObject extends NamedObject {
  readonly key?: string;
  readonly declared: readonly DeclarationPosition[];
}

/** An endpoint of the question. */
export interface AskedEndpoint extends DeclaredObject {
  readonly imagined?: true;
  /**
   * Set when the user of the peer must sign in again. The access that rules give it is unchanged, but the peer is cut
   * off until then.
   */
  readonly loginExpired?: true;
}

/** A question about access, and its answer. */
export interface AccessAnswer extends Omit<DescribedAccess, 'from' | 'to' | 'rules'> {
  readonly revision: number;
  readonly from: AskedEndpoint;
  readonly to: AskedEndpoint;
  readonly rules: readonly DeclaredRule[];
  /** Number of rules that were left out because they concern neither endpoint. */
  readonly otherRules: number;
  /** Number of pairs of members by verdict; present when an endpoint is a group. */
  readonly pairs?: Readonly<Record<Verdict, number>>;
  /**
   * Present when some members get another verdict than the group: for each other verdict, a pair of members, in a
   * sentence.
   */
  readonly exceptions?: readonly { readonly verdict: Verdict; readonly message: string }[];
}

/** A rule of an answer. */
export interface DeclaredRule extends Omit<DescribedRule, 'from' | 'to' | 'checks'> {
  readonly from: readonly DeclaredObject[];
  readonly to: readonly DeclaredObject[];
  readonly checks: readonly (Omit<DescribedRule['checks'][number], 'check'> & { readonly check: DeclaredObject })[];
}

/** The endpoints of a question, as people write them. */
export interface AccessQuestion {
  readonly from: string;
  readonly to: string;
  /** Traffic, such as `tcp/443`. Absent: all traffic. */
  readonly port?: string | undefined;
  /** Whether rules that concern neither endpoint are included. */
  readonly all?: boolean;
}

/** Returns what one endpoint may open to another, and why. Throws `NotFound`, `InvalidInput`, `NotAllowed`. */
export async function answerAccessQuestion(
  engine: Engine,
  call: Call,
  question: AccessQuestion,
): Promise<AccessAnswer> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  requireReading(state, call);
  const end = (text: string) => findEndpointOrPerson(state, text, call.actor);
  const [from, to] = [end(question.from), end(question.to)];
  const asked: Question = { from, to, ...parseQuestionTraffic(question.port) };
  const image = await engine.access.current(state);
  const explained = describeAccess(explainAccess(image, asked));
  const withDeclarations = createDeclarationLookUp(state);
  const shown = explained.rules.filter((rule) => question.all === true || isRelevant(rule));
  const { rules: _, ...answer } = explained;
  return {
    revision: state.revision,
    ...answer,
    from: { ...explained.from, ...withDeclarations(explained.from), ...loginOf(state, from) },
    to: { ...explained.to, ...withDeclarations(explained.to), ...loginOf(state, to) },
    rules: shown.map((rule) => ({
      ...rule,
      from: rule.from.map(withDeclarations),
      to: rule.to.map(withDeclarations),
      checks: rule.checks.map((outcome) => ({ ...outcome, check: withDeclarations(outcome.check) })),
    })),
    otherRules: explained.rules.length - shown.length,
    ...([from, to].some((id) => state.get(id)?.kind === kindOf.group) ? pairsOf(image, asked, explained.verdict) : {}),
  };
}

function loginOf(state: Snapshot, id: string): Pick<AskedEndpoint, 'loginExpired'> {
  return state.find('Peer', id)?.derived.login_expired === true ? { loginExpired: true } : {};
}

/**
 * Returns the number of pairs of group members by verdict, and an example of each verdict that differs from `expected`.
 */
function pairsOf(
  image: Parameters<typeof testAccess>[0],
  asked: Question,
  expected: Verdict,
): Pick<AccessAnswer, 'pairs' | 'exceptions'> {
  const { pairs, example } = testAccess(image, asked);
  const others = verdicts.filter((verdict) => verdict !== expected && pairs[verdict] > 0);
  const exceptions = others.flatMap((verdict) => {
    const found = example(verdict);
    return found === undefined ? [] : [{ verdict, message: describeAccess(found).message }];
  });
  return { pairs, ...(exceptions.length === 0 ? {} : { exceptions }) };
}

/** Whether a rule matches, or concerns at least one of the two endpoints. */
function isRelevant({ matches, from, to }: DescribedRule): boolean {
  return matches || from.length > 0 || to.length > 0;
}

/**
 * Throws unless the caller may read every kind of object that access depends on, because an explanation shows them all.
 */
function requireReading(state: Snapshot, { actor }: Call): void {
  // Questions never concern proxies, so a caller who manages policies need not be able to read proxies.
  const { proxy: _, ...kindNames } = kindOf;
  for (const name of Object.values(kindNames)) {
    const { module } = state.registry.get(name);
    requireRight(state, actor, module, 'read');
  }
}

function parseQuestionTraffic(port: string | undefined): Omit<Question, 'from' | 'to'> {
  if (port === undefined) return {};
  const asked = parseTraffic(port);
  if (asked !== undefined) return asked;
  throw new InvalidInput(
    `\`${port}\` is not a port or protocol; write tcp/443, udp/8000-8010, icmp, ssh, all, or the number of a TCP port`,
  );
}

function createDeclarationLookUp(state: Snapshot): (named: NamedObject) => DeclaredObject {
  return ({ type, id, name }) => {
    const object = state.get(id);
    const declared = (object?.declared ?? []).map(({ source, file, line }) => ({ source, file, line }));
    return { type, id, name, ...(object?.key === undefined ? {} : { key: object.key }), declared };
  };
}
