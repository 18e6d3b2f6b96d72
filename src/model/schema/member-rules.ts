import { appendPointer, isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { maxProblems } from '../problem.ts';
import type { ProblemCode } from '../problem-codes.ts';
import { type AnyField, type Fields, isEmpty } from './field.ts';
import { entriesOf } from './field-search.ts';

/**
 * Rule between the members of one object. Written as data, because it has two readers: the plan, and the Kubernetes API
 * server, which gets it as an expression. Rules across several objects are functions of the kind.
 */
export type MemberRule = {
  readonly code: ProblemCode;
  /** Member at which the fault is reported. Empty: the object itself. */
  readonly at: string;
  /** Explanation and remedy, where the general message is not enough. Absent: `messageOf` builds one. */
  readonly message?: string;
} & MemberRelation;

/**
 * `exactlyOne`, `atMostOne`, `atLeastOne`: number of these members that may be given. `rising`: the first number must
 * not exceed the second. `onlyWhere`: the member has a meaning only when the member `where` has one of the values `is`.
 */
export type MemberRelation =
  | {
      readonly rule: 'exactlyOne';
      readonly members: readonly [string, string];
      /** Member at which the fault is reported when both are missing. Absent: the object itself. */
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

/** Returns the message for a broken rule. `isMissing` selects the message for missing members. */
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
      return `${names.join()} is allowed only where \`${rule.where}\` is one of ${rule.is.join(', ')}; remove it`;
    default:
      return unreachable(rule);
  }
}

/**
 * Returns the rules that a canonical spec breaks, with the paths of the faults. Stops soon after `maxProblems` faults.
 */
export function brokenRules(fields: Fields, rules: readonly MemberRule[], spec: JsonObject): readonly BrokenRule[] {
  const found: BrokenRule[] = [];
  findBrokenRules(fields, rules, spec, { pointer: '', name: '' }, found);
  return found;
}

/** One fault, in the same form as the `Fault` of a kind. */
interface BrokenRule {
  readonly code: ProblemCode;
  readonly path: string;
  readonly message: string;
}

/**
 * Location of an object in the spec. `name`: key of the list entry that the object is; empty outside of keyed lists.
 */
interface ObjectLocation {
  readonly pointer: string;
  readonly name: string;
}

function findBrokenRules(
  fields: Fields,
  rules: readonly MemberRule[],
  value: JsonObject,
  location: ObjectLocation,
  found: BrokenRule[],
): void {
  if (found.length > maxProblems) return;
  for (const rule of rules) if (!isSatisfied(rule, value)) found.push(brokenRule(rule, value, location));
  for (const [member, field] of fieldsWithRules(fields))
    findInField(field, value[member], appendPointer(location.pointer, member), found);
}

function brokenRule(rule: MemberRule, value: JsonObject, { pointer, name }: ObjectLocation): BrokenRule {
  const isMissing = rule.rule === 'exactlyOne' && !isGiven(value[rule.members[0]]);
  const at = isMissing ? (rule.missingAt ?? '') : rule.at;
  const message = messageOf(rule, isMissing);
  return {
    code: rule.code,
    path: at === '' ? pointer : appendPointer(pointer, at),
    message: name === '' ? message : `\`${name}\`: ${message}`,
  };
}

function findInField(field: AnyField, value: Json | undefined, pointer: string, found: BrokenRule[]): void {
  if (field.type === 'object' && isObject(value))
    findBrokenRules(field.fields, field.rules ?? [], value, { pointer, name: '' }, found);
  if (!Array.isArray(value)) return;
  const items: readonly Json[] = value;
  for (const [at, item] of items.entries()) {
    if (found.length > maxProblems) return;
    const itemPointer = `${pointer}/${at}`;
    if (field.type === 'list') findInField(field.of, item, itemPointer, found);
    else if (field.type === 'keyed' && isObject(item))
      findBrokenRules(
        field.fields,
        field.rules ?? [],
        item,
        { pointer: itemPointer, name: String(item[field.key]) },
        found,
      );
  }
}

/** Whether any of the fields contains rules, at any depth. */
export function containRules(fields: Fields): boolean {
  return fieldsWithRules(fields).length > 0;
}

const ruledFieldsCache = new WeakMap<Fields, readonly (readonly [string, AnyField])[]>();

/** Returns the fields that contain rules. The result is cached. */
function fieldsWithRules(fields: Fields): readonly (readonly [string, AnyField])[] {
  const known = ruledFieldsCache.get(fields) ?? entriesOf(fields).filter(([, field]) => hasRules(field));
  ruledFieldsCache.set(fields, known);
  return known;
}

function hasRules(field: AnyField): boolean {
  if (field.type === 'list') return hasRules(field.of);
  if (field.type !== 'object' && field.type !== 'keyed') return false;
  return field.rules !== undefined || containRules(field.fields);
}

function isSatisfied(rule: MemberRule, value: JsonObject): boolean {
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

/** `false` and 0 count as absent. */
function isGiven(value: Json | undefined): boolean {
  return !isEmpty(value) && value !== false && value !== 0;
}

function unreachable(rule: never): never {
  throw new Error(`no such rule: ${JSON.stringify(rule)}`);
}
