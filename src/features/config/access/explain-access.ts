import type { Named } from '../../../access/evaluate/named.ts';
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
import { findEndOrPerson } from './find-person.ts';

/** Where something is declared. */
export interface Declared {
  readonly source: string;
  readonly file: string;
  readonly line: number;
}

/** An object of an answer, with its key and the places that state it. */
export interface Placed extends Named {
  readonly key?: string;
  readonly declared: readonly Declared[];
}

/** An end that was asked about. */
export interface AskedEnd extends Placed {
  readonly imagined?: true;
  /** Its user has to sign in again: what it may do stays, but until then it is cut off. */
  readonly loginExpired?: true;
}

/** What was asked about access, and how it is answered. */
export interface AccessAnswer extends Omit<DescribedAccess, 'from' | 'to' | 'rules'> {
  readonly revision: number;
  readonly from: AskedEnd;
  readonly to: AskedEnd;
  readonly rules: readonly PlacedRule[];
  /** How many rules that speak about neither end were left out. */
  readonly otherRules: number;
  /** Where an end is a group: how many pairs of its members are allowed what was asked, and how many not. */
  readonly pairs?: Readonly<Record<Verdict, number>>;
  /** Where members differ from what holds for the group: a pair of each other verdict, in a sentence. */
  readonly exceptions?: readonly { readonly verdict: Verdict; readonly message: string }[];
}

/** A rule of an answer. */
export interface PlacedRule extends Omit<DescribedRule, 'from' | 'to' | 'checks'> {
  readonly from: readonly Placed[];
  readonly to: readonly Placed[];
  readonly checks: readonly (Omit<DescribedRule['checks'][number], 'check'> & { readonly check: Placed })[];
}

/** Who is asked about, as people write it. */
export interface AccessQuestion {
  readonly from: string;
  readonly to: string;
  /** Such as `tcp/443`; everything when it is not given. */
  readonly port?: string | undefined;
  /** Whether rules that are about neither endpoint are included. */
  readonly all?: boolean;
}

/** Says what one end may open to another and why. Throws `NotFound`, `InvalidInput`, `NotAllowed`. */
export async function askAccess(engine: Engine, call: Call, question: AccessQuestion): Promise<AccessAnswer> {
  const state = await engine.snapshots.at(call.account, call.revision);
  requireReading(state, call);
  const end = (text: string) => findEndOrPerson(state, text, call.actor);
  const [from, to] = [end(question.from), end(question.to)];
  const asked: Question = { from, to, ...trafficOf(question.port) };
  const image = await engine.access.of(state);
  const explained = describeAccess(explainAccess(image, asked));
  const placed = placing(state);
  const shown = explained.rules.filter((rule) => question.all === true || isAbout(rule));
  const { rules: _, ...answer } = explained;
  return {
    revision: state.revision,
    ...answer,
    from: { ...explained.from, ...placed(explained.from), ...loginOf(state, from) },
    to: { ...explained.to, ...placed(explained.to), ...loginOf(state, to) },
    rules: shown.map((rule) => ({
      ...rule,
      from: rule.from.map(placed),
      to: rule.to.map(placed),
      checks: rule.checks.map((outcome) => ({ ...outcome, check: placed(outcome.check) })),
    })),
    otherRules: explained.rules.length - shown.length,
    ...([from, to].some((id) => state.get(id)?.kind === kindOf.group) ? pairsOf(image, asked, explained.verdict) : {}),
  };
}

function loginOf(state: Snapshot, id: string): Pick<AskedEnd, 'loginExpired'> {
  return state.find('Peer', id)?.derived.login_expired === true ? { loginExpired: true } : {};
}

/** How the members of groups fare, and where some fare otherwise. */
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

/** A rule that matches, or that means at least one of the two ends. */
function isAbout({ matches, from, to }: DescribedRule): boolean {
  return matches || from.length > 0 || to.length > 0;
}

/** An explanation shows every kind of object that access depends on. */
function requireReading(state: Snapshot, { actor }: Call): void {
  // Questions are never about proxies, so a caller who manages policies need not be able to read them.
  const { proxy: _, ...kindNames } = kindOf;
  for (const name of Object.values(kindNames)) {
    const { module } = state.registry.get(name);
    requireRight(state, actor, module, 'read');
  }
}

function trafficOf(port: string | undefined): Omit<Question, 'from' | 'to'> {
  if (port === undefined) return {};
  const asked = parseTraffic(port);
  if (asked !== undefined) return asked;
  throw new InvalidInput(`\`${port}\` is no traffic; write tcp/443, udp/8000-8010, icmp, ssh, all, or a port of TCP`);
}

function placing(state: Snapshot): (named: Named) => Placed {
  return ({ type, id, name }) => {
    const object = state.get(id);
    const declared = (object?.declared ?? []).map(({ source, file, line }) => ({ source, file, line }));
    return { type, id, name, ...(object?.key === undefined ? {} : { key: object.key }), declared };
  };
}
