import { describe, expect, it } from 'vitest';
import type { AnyField, Fields } from '../../src/model/schema/field.ts';
import { entriesOf } from '../../src/model/schema/field-search.ts';
import { inWrittenSpelling } from '../../src/model/schema/spelling.ts';
import { declaredFields } from '../api/profile/declared.ts';
import { registry } from './objects.ts';
import { contains, formatsIn, otherSpellings, respelledTexts, verbatimFormats } from './spellings.ts';

const requested = registry.kinds.filter(({ path }) => path !== undefined);
const respelled = new Map(requested.map((kind) => [kind, respelledTexts(kind)]));

/** Returns the paths of the enumeration fields whose values requests may write in upper case. */
function looseEnumerations(fields: Fields, prefix = ''): readonly string[] {
  return entriesOf(fields).flatMap(([name, field]) => {
    if (field.type === 'enum') return field.ignoreCase === true ? [`${prefix}${name}`] : [];
    return 'fields' in field ? looseEnumerations(field.fields, `${prefix}${name}/`) : [];
  });
}

describe('a text that a request spells otherwise than it is stored', () => {
  it('is kept in the written spelling, or docs/clients.md says how it is read', () => {
    const changed = requested.flatMap((kind) => [
      ...(respelled.get(kind) ?? [])
        .filter(({ normalized: { spec, spellings }, name, text }) => {
          const shown = inWrittenSpelling(kind.spec, spec, spellings)[name];
          return !contains(shown, text);
        })
        .map(({ member }) => `${kind.path} ${member}`),
      ...looseEnumerations(kind.spec).map((member) => `${kind.path} ${member}`),
    ]);
    expect(declaredFields(false)).toEqual(expect.arrayContaining([...new Set(changed)]));
    expect(new Set(changed).size).toBe(3);
  });

  it('is tried for every format that has several spellings', () => {
    const tried = [...respelled.values()].flat().flatMap(({ field }) => formatName(field));
    const all = new Set(requested.flatMap(({ spec }) => formatsIn(spec)));
    expect([...all].filter((name) => !tried.includes(name) && !verbatimFormats.includes(name))).toEqual([]);
    const used = new Set([...respelled.values()].flat().map(({ text }) => text));
    expect(otherSpellings.filter((text) => !used.has(text))).toEqual([]);
  });

  it('is shown in its canonical spelling when another value is stored', () => {
    for (const [kind, texts] of respelled)
      for (const { normalized, name } of texts) {
        const others = Object.fromEntries(
          Object.entries(normalized.spellings).map(([path, pairs]) => [
            path,
            pairs.map(([, written]) => ['another value', written] as const),
          ]),
        );
        expect(inWrittenSpelling(kind.spec, normalized.spec, others)[name]).toEqual(normalized.spec[name]);
      }
  });
});

function formatName(field: AnyField): readonly string[] {
  return field.type === 'string' && field.format !== undefined ? [field.format.name] : [];
}
