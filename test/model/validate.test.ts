import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serverFileSchema } from '../../src/config/file.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { specSchema } from '../../src/model/lower/shape.ts';
import { normalize } from '../../src/model/schema/normalize.ts';
import { prepareRequest } from '../../src/model/schema/prepare.ts';
import { createChecker, createValidator } from '../../src/model/schema/validation/validate.ts';
import { apiSourceSchemas } from '../../src/model/sources/schema.ts';
import { registry } from './product.ts';
import { anySpec, sampleRegistry, thing } from './sample-kinds.ts';

const validator = createValidator(sampleRegistry);
const checkDocument = (spec: JsonObject) => validator.check('Thing', 'document', spec);
const checkRequest = (spec: JsonObject) =>
  validator.check('Thing', 'request', { name: 'one', size: 1, entries: [], ...spec });

describe('validation', () => {
  test.each<[string, JsonObject, string, string, string]>([
    [
      'a misspelled field',
      { colur: 'red' },
      'field_unknown',
      '/colur',
      'unknown field `colur`; did you mean `colour`?',
    ],
    [
      'a field inside an entry',
      { entries: [{ name: 'a', tgas: [] }] },
      'field_unknown',
      '/entries/0/tgas',
      'unknown field `tgas`; did you mean `tags`?',
    ],
    [
      'a name that other systems use for a field',
      { entries: [{ name: 'a', assistants: [] }] },
      'field_renamed',
      '/entries/0/assistants',
      '`assistants` is called `helpers` here; write `helpers`',
    ],
    [
      'a field like no other',
      { extra: { qqqqqq: 1 } },
      'field_unknown',
      '/extra/qqqqqq',
      'unknown field `qqqqqq`; known are level',
    ],
    [
      'a misspelled word',
      { colour: 'gren' },
      'value_not_allowed',
      '/colour',
      '`colour` must be one of red, green; did you mean `green`?',
    ],
    ['a word like no other', { colour: 'mauve' }, 'value_not_allowed', '/colour', '`colour` must be one of red, green'],
    ['text for a number', { size: '3' }, 'type_wrong', '/size', '`size` must be an integer, not a string'],
    ['a number for text', { words: [1] }, 'type_wrong', '/words/0', 'entry 0 must be a string, not a number'],
    ['a list for an object', { part: [] }, 'type_wrong', '/part', '`part` must be an object, not a list'],
    ['an object for a list', { words: {} }, 'type_wrong', '/words', '`words` must be a list, not an object'],
    ['null', { on: null }, 'type_wrong', '/on', '`on` must be a boolean, not null'],
    ['a fraction', { size: 1.5 }, 'type_wrong', '/size', '`size` must be an integer, not a number'],
    ['too small', { size: 0 }, 'value_out_of_range', '/size', '`size` must be at least 1'],
    ['too large', { size: 10 }, 'value_out_of_range', '/size', '`size` must be at most 9'],
    ['too short', { name: 'x' }, 'value_too_short', '/name', '`name` must have at least 2 characters'],
    ['empty', { entries: [{ name: '' }] }, 'value_too_short', '/entries/0/name', '`name` must not be empty'],
    ['too long', { name: 'abcdefghi' }, 'value_too_long', '/name', '`name` must have at most 8 characters'],
    [
      'too many',
      { words: Array.from({ length: 13 }, (_, at) => `w${at}`) },
      'list_too_long',
      '/words',
      '`words` must have at most 12 entries',
    ],
    ['a missing member of an entry', { entries: [{}] }, 'field_required', '/entries/0', '`name` is required; add it'],
    ['half a typed reference', { target: { id: 'a' } }, 'field_required', '/target', '`type` is required; add it'],
  ])('reports %s with its path and a way to fix it', (_, spec, code, path, message) => {
    expect(checkRequest(spec)).toEqual([{ code, path, message }]);
  });

  test('escapes `/` and `~` in pointers', () => {
    expect(checkRequest({ 'a/b~c': 1 })).toMatchObject([{ code: 'field_unknown', path: '/a~1b~0c' }]);
  });

  test('reports all faults at once', () => {
    const faults = checkRequest({ colur: 1, size: 0, words: [1], extra: { level: 'x' } });
    expect(faults.map(({ path }) => path).sort()).toEqual(['/colur', '/extra/level', '/size', '/words/0']);
  });

  test('repeats no value in a message', () => {
    const faults = checkRequest({
      name: 'hunter2-hunter2',
      colour: 'hunter2',
      size: 'hunter2' as Json,
      words: [77_777],
    });
    expect(faults.length).toBe(4);
    expect(JSON.stringify(faults)).not.toMatch(/hunter2|77777/);
  });

  test('lets documents omit the name and fields with a document default, but not requests', () => {
    expect(checkDocument({ entries: [] })).toEqual([]);
    expect(validator.check('Thing', 'request', { entries: [] }).map(({ message }) => message)).toEqual([
      '`name` is required; add it',
      '`size` is required; add it',
    ]);
  });

  test('accepts inline and standalone children in documents, and neither in requests', () => {
    const inline = { entries: [], children: [{ name: 'one' }] };
    expect(checkDocument(inline)).toEqual([]);
    expect(
      checkDocument({ entries: [], children: [{ thing: 'x' }] })
        .map(({ code }) => code)
        .sort(),
    ).toEqual(['field_required', 'field_unknown']);
    expect(checkRequest({ children: [] })).toMatchObject([{ code: 'field_unknown' }]);
    expect(validator.check('Child', 'document', { name: 'one' })).toMatchObject([
      { message: '`thing` is required; add it' },
    ]);
    expect(validator.check('Child', 'request', { name: 'one', ttl: 1 })).toEqual([]);
    expect(validator.check('Child', 'request', { name: 'one', ttl: 1, thing: 'x' })).toMatchObject([
      { code: 'field_unknown' },
    ]);
  });

  test('accepts the ids of entries in requests, but not in documents', () => {
    expect(checkRequest({ entries: [{ id: 'e1', name: 'a' }] })).toEqual([]);
    expect(checkDocument({ entries: [{ id: 'e1', name: 'a' }] })).toMatchObject([
      { code: 'field_unknown', path: '/entries/0/id' },
    ]);
  });

  test('accepts the canonical form of everything that it accepts', () => {
    fc.assert(
      fc.property(anySpec, (raw) => {
        const spec = { ...prepareRequest(thing.spec, new Set(), raw).body, name: 'one', size: 2, entries: [] };
        fc.pre(validator.check('Thing', 'request', spec).length === 0);
        expect(validator.check('Thing', 'request', normalize(thing.spec, spec).spec)).toEqual([]);
      }),
    );
  });
});

test('a text in place of an allowed value that is no text is a fault without a suggestion', () => {
  const check = createChecker({ type: 'boolean', enum: [true] });
  expect(check(true)).toEqual([]);
  expect(check('true').map(({ code }) => code)).toEqual(['type_wrong', 'value_not_allowed']);
});

test('all schemas for validation are valid schemas, of every kind on every surface, of sources and of settings', () => {
  const surfaces = ['document', 'request', 'replace'] as const;
  const schemas = registry.kinds.flatMap((kind) => surfaces.map((surface) => specSchema(registry, kind, surface)));
  const ajv = new Ajv();
  for (const schema of [...schemas, ...Object.values(apiSourceSchemas), serverFileSchema()]) {
    expect(ajv.validateSchema(schema) || ajv.errorsText(), JSON.stringify(schema)).toBe(true);
  }
});
