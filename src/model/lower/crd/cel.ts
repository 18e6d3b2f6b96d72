import { asObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { type AnyField, entriesOf, type Fields } from '../../schema/field.ts';
import { type MemberRule, messageOf } from '../../schema/member-rules.ts';

/** What is known of an object beside its schema. */
export interface Known {
  readonly fields: Fields;
  readonly rules: readonly MemberRule[];
  /** It is stated as a whole, so that what is absent is not stated by another source either. */
  readonly isWhole: boolean;
}

/**
 * The structural schema of an object with what JSON Schema cannot say of it: rules as expressions (CEL), and the patterns of
 * formats. They never refuse what a document may say; what they cannot judge is left to the plan.
 */
export function withExpressions(schema: JsonObject, known: Known): JsonObject {
  const validations = known.rules.flatMap((rule) => validationOf(rule, known));
  const properties = Object.entries(asObject(schema['properties'])).map(([name, member]) => {
    const field = Object.hasOwn(known.fields, name) ? known.fields[name] : undefined;
    return [name, field === undefined ? member : memberSchema(asObject(member), field)] as const;
  });
  return withValidations({ ...schema, properties: Object.fromEntries(properties) }, validations);
}

/** The same with further expressions. */
export function withValidations(schema: JsonObject, validations: readonly JsonObject[]): JsonObject {
  if (validations.length === 0) return schema;
  const present = schema['x-kubernetes-validations'];
  const all = [...(Array.isArray(present) ? present : []), ...validations];
  return { ...schema, 'x-kubernetes-validations': all };
}

/**
 * What only creation writes stays as it is: on the object, because a rule of the member itself does not see that it is taken
 * out. Absent is the default, where there is one.
 */
export function createOnlyRules(fields: Fields): readonly JsonObject[] {
  return entriesOf(fields)
    .filter(([, { access }]) => access === 'createOnly')
    .map(([name, field]) => {
      const present = `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || self.${name} == oldSelf.${name})`;
      const rule =
        defaultOf(field) === undefined
          ? present
          : `${effectiveOf(name, field)} == ${effectiveOf(name, field, 'oldSelf')}`;
      return {
        rule,
        message: `\`${name}\` can only be set when the object is made; undo the change, or make a resource of another name`,
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
        isWhole: field.whole === true,
      });
    case 'list':
      return boundedList({ ...schema, items: memberSchema(asObject(schema['items']), wholly(field.of)) });
    case 'keyed': {
      const items = asObject(schema['items']);
      return {
        ...schema,
        items: withExpressions(items, { fields: field.fields, rules: field.rules ?? [], isWhole: true }),
      };
    }
    default:
      return schema;
  }
}

/** More entries than any resource holds. */
const mostEntries = 10_000;

/**
 * The API server refuses rules that could cost much. It counts as many entries as fit into a request, and those without a
 * required member are small: their number needs a bound.
 */
function boundedList(schema: JsonObject): JsonObject {
  const { 'x-kubernetes-validations': rules, required } = asObject(schema['items']);
  const isCostly = rules !== undefined && required === undefined && schema['maxItems'] === undefined;
  return isCostly ? { ...schema, maxItems: mostEntries } : schema;
}

/** Items are whole values, whatever holds them. */
function wholly(field: AnyField): AnyField {
  return field.type === 'object' ? { ...field, whole: true } : field;
}

/** An empty text is an absent one where the field is not required. */
function patternOf({ format, required }: Extract<AnyField, { readonly type: 'string' }>): JsonObject {
  if (format?.pattern === undefined) return {};
  return { pattern: required === true ? `^(?:${format.pattern})$` : `^(?:${format.pattern})?$` };
}

function validationOf(rule: MemberRule, known: Known): readonly JsonObject[] {
  const expression = expressionOf(rule, known);
  if (expression === undefined) return [];
  return [
    { rule: expression, message: sentenceOf(rule, known), ...(rule.at === '' ? {} : { fieldPath: `.${rule.at}` }) },
  ];
}

/** One sentence for both ways to break the rule, where both are refused. */
function sentenceOf(rule: MemberRule, { isWhole }: Known): string {
  if (rule.rule !== 'exactlyOne' || !isWhole || rule.message !== undefined) return messageOf(rule);
  return `give either ${rule.members.map((name) => `\`${name}\``).join(' or ')}`;
}

/** Nothing where the object is shared among sources, and one of them alone cannot be judged. */
function expressionOf(rule: MemberRule, { fields, isWhole }: Known): string | undefined {
  const given = rule.members.map((name) => givenOf(name, fieldOf(fields, name)));
  switch (rule.rule) {
    case 'exactlyOne':
      return isWhole ? given.join(' != ') : `!(${given.join(' && ')})`;
    case 'atMostOne':
      return `!(${given.join(' && ')})`;
    case 'atLeastOne':
      return isWhole ? given.join(' || ') : undefined;
    case 'rising': {
      const [first, second] = rule.members.map((name) => effectiveOf(name, fieldOf(fields, name)));
      return `${first} <= ${second}`;
    }
    case 'onlyWhere': {
      const where = effectiveOf(rule.where, fieldOf(fields, rule.where));
      const isKnown = isWhole ? '' : ` || !has(self.${rule.where})`;
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

/** Whether a member says something. */
function givenOf(name: string, field: AnyField): string {
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

/** The value of a member, or its default. */
function effectiveOf(name: string, field: AnyField, object: 'self' | 'oldSelf' = 'self'): string {
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
