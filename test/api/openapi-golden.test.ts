import { expect, it } from 'vitest';
import { describeApi } from '../../src/api/description.ts';
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { registry } from '../model/product.ts';

// A change of the interface shows as a difference of these files. Review it, and accept it by running this file with
// `-u`.
it.each(['self-hosted', 'hosted'] as const)(
  'the OpenAPI interface of the %s edition equals the committed golden file',
  async (edition) => {
    const document = await describeApi(registry, { version: '0.0.0', edition });
    await expect(`${write(withoutTexts(document), '')}\n`).toMatchFileSnapshot(`../golden/openapi.${edition}.json`);
  },
);

/**
 * Removes descriptive texts, because they may be reworded, and sorts members alphabetically, because their order has no
 * meaning.
 */
function withoutTexts(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (!isObject(value)) return value;
  const members = Object.entries(value as JsonObject)
    .filter(([name, member]) => !(texts.includes(name) && typeof member === 'string'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutTexts(member)]));
}

const texts = ['description', 'summary'];

/** Formats JSON with short values on one line, so that differences are easy to read. */
function write(value: Json, indent: string): string {
  const flat = JSON.stringify(value);
  if (flat.length + indent.length <= 120) return flat;
  const inner = `${indent} `;
  if (Array.isArray(value)) return `[\n${value.map((item) => inner + write(item, inner)).join(',\n')}\n${indent}]`;
  if (!isObject(value)) return flat;
  const members = Object.entries(value as JsonObject).map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${write(member, inner)}`,
  );
  return `{\n${members.join(',\n')}\n${indent}}`;
}
