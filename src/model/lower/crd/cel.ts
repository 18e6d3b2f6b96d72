import { asObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { AnyField, Fields } from '../../schema/field.ts';
import { entriesOf } from '../../schema/field-search.ts';
import { type MemberRule, messageOf } from '../../schema/member-rules.ts';

/** Facts about an object that its schema does not contain. */
export interface ObjectFacts {
  readonly fields: Fields;
  readonly rules: readonly MemberRule[];
  /** Whether one source states the whole object, so that no other source can state a member that is absent. */
  readonly isAtomic: boolean;
}

/**
 * Adds to the structural schema of an object what JSON Schema cannot express: rules as CEL expressions, and the
 * patterns of formats. These never refuse what a document may state; what they cannot check is checked by the plan.
 */
export function withExpressions(schema: JsonObject, known: ObjectFacts): JsonObject {
  const validations = known.rules.flatMap((rule) => validationOf(rule, known));
  const properties = Object.entries(asObject(schema['properties'])).map(([name, member]) => {
    const field = Object.hasOwn(known.fields, name) ? known.fields[name] : undefined;
    return [name, field === undefined ? member : memberSchema(asObject(member), field)] as const;
  });
  return withValidations({ ...schema, properties: Object.fromEntries(properties) }, validations);
}

/** Adds CEL rules to a schema. */
export function withValidations(schema: JsonObject, validations: readonly JsonObject[]): JsonObject {
  if (validations.length === 0) return schema;
  const present = schema['x-kubernetes-validations'];
  const all = [...(Array.isArray(present) ? present : []), ...validations];
  return { ...schema, 'x-kubernetes-validations': all };
}

/**
 * Returns rules that keep create-only fields unchanged. They are rules of the object, because a rule of the member does
 * not run when the member is removed. An absent member counts as its default, where there is one.
 */
export function createOnlyRules(fields: Fields): readonly JsonObject[] {
  return entriesOf(fields)
    .filter(([, { access }]) => access === 'createOnly')
    .map(([name, field]) => {
      const present = `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || self.${name} == oldSelf.${name})`;
      const rule =
        defaultOf(field) === undefined
          ? present
          : `${effectiveExpression(name, field)} == ${effectiveExpression(name, field, 'oldSelf')}`;
      return {
        rule,
        message: `\`${name}\` can be set only at creation; undo the change, or create a resource with another name`,
        fieldPath: `.${name}`,
      };
    });
}

function memberSchema(schema: JsonObject, field: AnyField): JsonObject {
  switch (field.type) {
    case 'string':
      return { ...schema, ...patternOf(field) };
    case 'object':
      return withExpressions(schema, {
        fields: field.fields,
        rules: field.rules ?? [],
        isAtomic: field.atomic === true,
      });
    case 'list':
      return boundedList({ ...schema, items: memberSchema(asObject(schema['items']), asAtomic(field.of)) });
    case 'keyed': {
      const items = asObject(schema['items']);
      return {
        ...schema,
        items: withExpressions(items, { fields: field.fields, rules: field.rules ?? [], isAtomic: true }),
      };
    }
    default:
      return schema;
  }
}

/** Maximum number of list entries; no resource has that many. */
const maxEntries = 10_000;

/**
 * Adds a bound to a list whose items have rules. The API server refuses rules with a high estimated cost. It assumes as
 * many entries as fit into a request, and entries without a required member are small.
 */
function boundedList(schema: JsonObject): JsonObject {
  const { 'x-kubernetes-validations': rules, required } = asObject(schema['items']);
  const isCostly = rules !== undefined && required === undefined && schema['maxItems'] === undefined;
  return isCostly ? { ...schema, maxItems: maxEntries } : schema;
}

/** Marks a field as stated whole, because list items always are. */
function asAtomic(field: AnyField): AnyField {
  return field.type === 'object' ? { ...field, atomic: true } : field;
}

/** Returns the pattern of a format. Where the field is not required, an empty text counts as absent and is accepted. */
function patternOf({ format, required }: Extract<AnyField, { readonly type: 'string' }>): JsonObject {
  if (format?.pattern === undefined) return {};
  return { pattern: required === true ? `^(?:${format.pattern})$` : `^(?:${format.pattern})?$` };
}

function validationOf(rule: MemberRule, known: ObjectFacts): readonly JsonObject[] {
  const expression = expressionOf(rule, known);
  if (expression === undefined) return [];
  return [
    { rule: expression, message: messageFor(rule, known), ...(rule.at === '' ? {} : { fieldPath: `.${rule.at}` }) },
  ];
}

/** Returns the message of a rule. Where both ways to break `exactlyOne` are refused, one sentence covers both. */
function messageFor(rule: MemberRule, { isAtomic }: ObjectFacts): string {
  if (rule.rule !== 'exactlyOne' || !isAtomic || rule.message !== undefined) return messageOf(rule);
  return `give either ${rule.members.map((name) => `\`${name}\``).join(' or ')}`;
}

/**
 * Returns the CEL expression of a rule. Returns `undefined` when sources share the object and one source's part cannot
 * be checked alone.
 */
function expressionOf(rule: MemberRule, { fields, isAtomic }: ObjectFacts): string | undefined {
  const given = rule.members.map((name) => givenExpression(name, fieldOf(fields, name)));
  switch (rule.rule) {
    case 'exactlyOne':
      return isAtomic ? given.join(' != ') : `!(${given.join(' && ')})`;
    case 'atMostOne':
      return `!(${given.join(' && ')})`;
    case 'atLeastOne':
      return isAtomic ? given.join(' || ') : undefined;
    case 'rising': {
      const [first, second] = rule.members.map((name) => effectiveExpression(name, fieldOf(fields, name)));
      return `${first} <= ${second}`;
    }
    case 'onlyWhere': {
      const where = effectiveExpression(rule.where, fieldOf(fields, rule.where));
      const isKnown = isAtomic ? '' : ` || !has(self.${rule.where})`;
      return `!${given.join()}${isKnown} || ${where} in ${JSON.stringify(rule.is)}`;
    }
    default:
      return unreachable(rule);
  }
}

function fieldOf(fields: Fields, name: string): AnyField {
  const field = fields[name];
  if (field === undefined) throw new Error(`a rule names the member ${name}, which is not declared`);
  return field;
}

/** Returns a CEL expression that is true when a member has a value other than empty, 0 or false. */
function givenExpression(name: string, field: AnyField): string {
  const has = `has(self.${name})`;
  switch (field.type) {
    case 'boolean':
      return defaultOf(field) === true ? `(!${has} || self.${name})` : `(${has} && self.${name})`;
    case 'integer':
      return `(${has} && self.${name} != 0)`;
    case 'string':
    case 'ref':
    case 'list':
    case 'refs':
    case 'keyed':
    case 'map':
      return `(${has} && size(self.${name}) > 0)`;
    default:
      return has;
  }
}

/** Returns a CEL expression for the value of a member, or its default. */
function effectiveExpression(name: string, field: AnyField, object: 'self' | 'oldSelf' = 'self'): string {
  const value = defaultOf(field);
  if (value === undefined) return `${object}.${name}`;
  return `(has(${object}.${name}) ? ${object}.${name} : ${JSON.stringify(value)})`;
}

function defaultOf({ documentDefault, default: value, required }: AnyField): Json | undefined {
  return documentDefault ?? (required === true ? undefined : value);
}

function unreachable(rule: never): never {
  throw new Error(`no such rule: ${JSON.stringify(rule)}`);
}
