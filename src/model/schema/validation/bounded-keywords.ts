import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt, Name } from 'ajv';
import { Type } from 'ajv/dist/compile/util.js';
import { countMembers } from '../../../lib/json.ts';

/** Limits of one validation. They may change between two calls of the same compiled validator. */
export interface ValidationBounds {
  /** Number of errors after which no further entries or members are validated. */
  errors: number;
  /** Whether the entries of a list, or the members of a map, are validated although there are too many of them. */
  entersOversized: boolean;
}

/**
 * Replaces the keywords that loop over the input, so that validation stops soon after the given number of errors. With
 * `allErrors` alone, a body of 1 MB has 500,000 errors, which take seconds and hundreds of megabytes. A list with more
 * entries than `maxItems` is refused without a look at its entries.
 */
export function boundLoops(ajv: Ajv, bounds: ValidationBounds): void {
  for (const definition of [itemsKeyword(bounds), maxPropertiesKeyword, additionalPropertiesKeyword(bounds)]) {
    ajv.removeKeyword(String(definition.keyword));
    ajv.addKeyword(definition);
  }
}

/** The variable of the compiled code that counts errors. */
const errorCount = new Name('errors');

function itemsKeyword(bounds: ValidationBounds): CodeKeywordDefinition {
  return {
    keyword: 'items',
    type: 'array',
    schemaType: ['object', 'boolean'],
    code(cxt) {
      const { gen, data } = cxt;
      const reference = gen.scopeValue('obj', { ref: bounds });
      const validateItems = () =>
        gen.forRange('i', 0, _`${data}.length`, (index) => {
          stopAfterErrors(cxt, reference);
          cxt.subschema({ keyword: 'items', dataProp: index, dataPropType: Type.Num }, gen.name('valid'));
        });
      unlessOversized(cxt, reference, { most: 'maxItems', count: _`${data}.length` }, validateItems);
    },
  };
}

/** As the keyword of the library, but counts the members of an object only once. */
const maxPropertiesKeyword: CodeKeywordDefinition = {
  keyword: 'maxProperties',
  before: 'required',
  type: 'object',
  schemaType: 'number',
  error: {
    message: 'must not have more properties',
    params: ({ schema }) => _`{limit: ${schema}}`,
  },
  code: (cxt) => cxt.fail(_`${memberCount(cxt)} > ${cxt.schema}`),
};

/** Returns the code that counts the members of the validated object. */
function memberCount({ gen, data }: KeywordCxt): ReturnType<typeof _> {
  return _`${gen.scopeValue('func', { ref: countMembers })}(${data})`;
}

function additionalPropertiesKeyword(bounds: ValidationBounds): CodeKeywordDefinition {
  return {
    keyword: 'additionalProperties',
    before: 'properties',
    type: 'object',
    schemaType: ['boolean', 'object'],
    error: {
      message: 'must not have additional properties',
      params: ({ params }) => _`{additionalProperty: ${params['additionalProperty']}}`,
    },
    code(cxt) {
      const { gen, data, schema, parentSchema } = cxt;
      if (schema === true) return;
      const reference = gen.scopeValue('obj', { ref: bounds });
      const known = gen.scopeValue('obj', { ref: new Set(Object.keys(parentSchema['properties'] ?? {})) });
      const validateMembers = () =>
        gen.forIn('key', data, (key) => {
          stopAfterErrors(cxt, reference);
          gen.if(_`!${known}.has(${key})`, () => validateMember(cxt, key));
        });
      unlessOversized(cxt, reference, { most: 'maxProperties', count: memberCount(cxt) }, validateMembers);
    },
  };
}

function validateMember(cxt: KeywordCxt, key: Name): void {
  if (cxt.schema === false) {
    cxt.setParams({ additionalProperty: key });
    cxt.error();
  } else {
    const member = { keyword: 'additionalProperties', dataProp: key, dataPropType: Type.Str };
    cxt.subschema(member, cxt.gen.name('valid'));
  }
}

/**
 * Ends the loop when there are enough errors. Not inside `anyOf` and the like: their branches are tried one after the
 * other, and a branch with unvalidated entries would count as valid.
 */
function stopAfterErrors({ gen, it }: KeywordCxt, bounds: Name): void {
  if (it.compositeRule !== true) gen.if(_`${errorCount} >= ${bounds}.errors`, () => gen.break());
}

function unlessOversized(
  { gen, it, parentSchema }: KeywordCxt,
  bounds: Name,
  { most, count }: { readonly most: string; readonly count: ReturnType<typeof _> },
  validate: () => void,
): void {
  const limit: unknown = parentSchema[most];
  if (typeof limit !== 'number' || it.compositeRule === true) validate();
  else gen.if(_`${bounds}.entersOversized || ${count} <= ${limit}`, validate);
}
