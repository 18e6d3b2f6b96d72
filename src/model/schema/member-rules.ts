import { isObject, type Json, type JsonObject, pointerTo } from '../../lib/json.ts';
import type { ProblemCode } from '../problem-codes.ts';
import { type AnyField, entriesOf, type Fields, isEmpty } from './field.ts';

/**
 * What the members of one object must not contradict. Written as data, because two read it: the plan, and the API server of
 * Kubernetes, which gets it as an expression. What looks at more than one object is a function of the kind.
 */
export type MemberRule = {
  readonly code: ProblemCode;
  /** The member at which the fault is reported; empty for the object itself. */
  readonly at: string;
  /** What is wrong and a way out, where the general sentence does not say it. */
  readonly message?: string;
} & MemberRelation;

/**
 * `exactlyOne`, `atMostOne`, `atLeastOne`: of these members. `rising`: the first number is not above the second one.
 * `onlyWhere`: the member has a meaning only where another one has one of some values.
 */
export type MemberRelation =
  | {
      readonly rule: 'exactlyOne';
      readonly members: readonly [string, string];
      /** The member at which it is reported that both are missing; absent for the object itself. */
      readonly missingAt?: string;
    }
  | { readonly rule: 'atMostOne'; readonly members: readonly [string, string] }
  | { readonly rule: 'atLeastOne'; readonly members: readonly string[] }
  | { readonly rule: 'rising'; readonly members: readonly [string, string] }
  | {
      readonly rule: 'onlyWhere';
      readonly members: readonly [string];
      readonly where: string;
      readonly is: readonly string[];
    };

/** The sentence about a broken rule; that about members that are missing, where it is known that they are. */
export function messageOf(rule: MemberRule, isMissing = false): string {
  if (rule.message !== undefined) return rule.message;
  const names = rule.members.map((name) => `\`${name}\``);
  switch (rule.rule) {
    case 'exactlyOne':
      return isMissing
        ? `${names.join(' and ')} are both missing; give one of them`
        : `${names.join(' and ')} exclude each other; keep one of them`;
    case 'atMostOne':
      return `${names.join(' and ')} exclude each other; keep one of them`;
    case 'atLeastOne':
      return `give at least one of ${names.join(', ')}`;
    case 'rising':
      return `${names.join(' must not be above ')}; swap them`;
    case 'onlyWhere':
      return `${names.join()} means something only where \`${rule.where}\` is one of ${rule.is.join(', ')}; remove it`;
    default:
      return unreachable(rule);
  }
}

/** The rules that a canonical spec breaks, with the paths of the faults. */
export function brokenRules(fields: Fields, rules: readonly MemberRule[], spec: JsonObject): readonly Broken[] {
  return brokenIn(fields, rules, spec, '', '');
}

/** One fault; a `Fault` of a kind has the same form. */
interface Broken {
  readonly code: ProblemCode;
  readonly path: string;
  readonly message: string;
}

function brokenIn(
  fields: Fields,
  rules: readonly MemberRule[],
  value: JsonObject,
  pointer: string,
  name: string,
): readonly Broken[] {
  const own = rules.filter((rule) => !holds(rule, value)).map((rule) => brokenRule(rule, value, pointer, name));
  const inside = ruled(fields).flatMap(([member, field]) =>
    brokenInField(field, value[member], pointerTo(pointer, member)),
  );
  return [...own, ...inside];
}

/** `name` is that of the entry of a list in which the rule is broken. */
function brokenRule(rule: MemberRule, value: JsonObject, pointer: string, name: string): Broken {
  const isMissing = rule.rule === 'exactlyOne' && !isGiven(value[rule.members[0]]);
  const at = isMissing ? (rule.missingAt ?? '') : rule.at;
  const message = messageOf(rule, isMissing);
  return {
    code: rule.code,
    path: at === '' ? pointer : pointerTo(pointer, at),
    message: name === '' ? message : `\`${name}\`: ${message}`,
  };
}

function brokenInField(field: AnyField, value: Json | undefined, pointer: string): readonly Broken[] {
  if (field.type === 'object')
    return isObject(value) ? brokenIn(field.fields, field.rules ?? [], value, pointer, '') : [];
  if (!Array.isArray(value)) return [];
  if (field.type === 'list')
    return value.flatMap((item: Json, at) => brokenInField(field.of, item, pointerTo(pointer, String(at))));
  if (field.type !== 'keyed') return [];
  return value.flatMap((item: Json, at) =>
    isObject(item)
      ? brokenIn(field.fields, field.rules ?? [], item, pointerTo(pointer, String(at)), String(item[field.key]))
      : [],
  );
}

const withRules = new WeakMap<Fields, readonly (readonly [string, AnyField])[]>();

/** The fields with rules in them; most have none, and are not looked at again. */
function ruled(fields: Fields): readonly (readonly [string, AnyField])[] {
  const known = withRules.get(fields) ?? entriesOf(fields).filter(([, field]) => hasRules(field));
  withRules.set(fields, known);
  return known;
}

function hasRules(field: AnyField): boolean {
  if (field.type === 'list') return hasRules(field.of);
  if (field.type !== 'object' && field.type !== 'keyed') return false;
  return field.rules !== undefined || ruled(field.fields).length > 0;
}

function holds(rule: MemberRule, value: JsonObject): boolean {
  const given = rule.members.filter((name) => isGiven(value[name]));
  switch (rule.rule) {
    case 'exactlyOne':
      return given.length === 1;
    case 'atMostOne':
      return given.length <= 1;
    case 'atLeastOne':
      return given.length > 0;
    case 'rising':
      return Number(value[rule.members[0]]) <= Number(value[rule.members[1]]);
    case 'onlyWhere':
      return given.length === 0 || rule.is.includes(String(value[rule.where]));
    default:
      return unreachable(rule);
  }
}

/** A switch that is off and a number that is 0 say as little as what is absent. */
function isGiven(value: Json | undefined): boolean {
  return !isEmpty(value) && value !== false && value !== 0;
}

function unreachable(rule: never): never {
  throw new Error(`no such rule: ${JSON.stringify(rule)}`);
}
