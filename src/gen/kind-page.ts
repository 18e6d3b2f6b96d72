import type { Kind } from '../model/declare/kind.ts';
import type { Registry } from '../model/declare/registry.ts';
import { type Explanation, explain } from '../model/lower/explain.ts';
import type { AnyField, Fields } from '../model/schema/field.ts';
import { entriesOf } from '../model/schema/field-search.ts';
import { page, table } from './markdown.ts';

const introduction = `
Every kind of object that an account holds. The \`spec\` of a document is the body of the API's request, with keys of
documents in place of ids. \`heddle explain KIND.FIELD\` prints the same in a terminal, and \`examples/kinds/\` has a
document with every field of each kind.`;

/** Returns the reference page of kinds: their meaning, endpoints, document defaults and fields. */
export function kindPage(registry: Registry): string {
  const sections = registry.kinds.map((kind) => kindSection(registry, kind));
  return page('Kinds', 'src/kinds', introduction, summaryTable(registry), ...sections);
}

function summaryTable(registry: Registry): string {
  const rows = registry.kinds.map((kind) => [
    `[\`${kind.name}\`](#${kind.name.toLowerCase()})`,
    kind.doc,
    describeEndpoints(kind),
    describeDocuments(kind),
    describeDefaults(kind),
  ]);
  return table(['Kind', 'What it is', 'Endpoints', 'Documents', 'A document may leave out'], rows);
}

function kindSection(registry: Registry, kind: Kind): string {
  const rows = fieldRows(registry, kind.name, '');
  const fields = rows.length === 0 ? 'It has no fields.' : table(['Field', 'Type', 'Meaning'], rows);
  return `## ${kind.name}\n\n${kind.doc}\n\n${fields}`;
}

/** Returns a row for each field below a path such as `rules.`, recursively. */
function fieldRows(registry: Registry, kind: string, prefix: string): readonly (readonly string[])[] {
  const above = explainPath(registry, `${kind}.${prefix}`.slice(0, -1));
  return above.members.flatMap(({ name }) => {
    const { path, type = '', doc, facts } = explainPath(registry, `${kind}.${prefix}${name}`);
    return [[`\`${path}\``, type, [doc, ...facts].join(' ')], ...fieldRows(registry, kind, `${path}.`)];
  });
}

function explainPath(registry: Registry, name: string): Explanation {
  const found = explain(registry, name);
  if (typeof found === 'string') throw new Error(found);
  return found;
}

function describeEndpoints(kind: Kind): string {
  if (kind.path === undefined) return 'none';
  const all = ['list', 'create', 'read', 'replace', 'delete'];
  const some = all.every((verb) => kind.verbs.some((offered) => offered === verb)) ? '' : ` (${kind.verbs.join(', ')})`;
  return `\`${kind.path}\`${some}`;
}

function describeDocuments(kind: Kind): string {
  if (!kind.document.allowed) return `no: ${kind.document.why}`;
  if (kind.singleton !== undefined) return `yes, one, called \`${kind.singleton}\``;
  const { inline, kind: parent } = kind.parent ?? {};
  return inline === undefined ? 'yes' : `yes, also as \`${inline}\` of ${parent}`;
}

/** Returns the fields that requests must contain but documents may leave out, with their defaults. */
function describeDefaults(kind: Kind): string {
  if (!kind.document.allowed) return '';
  return documentDefaults(kind.spec, '')
    .map(([path, value]) => `\`${path}\`: ${value}`)
    .join(', ');
}

function documentDefaults(fields: Fields, prefix: string): readonly (readonly [string, string])[] {
  return entriesOf(fields).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const below = 'fields' in field ? documentDefaults(field.fields, `${path}.`) : [];
    // The defaults of an object's members are more informative than its own default `{}`.
    const isOwn = field.documentDefault !== undefined && below.length === 0;
    return isOwn ? [[path, valueText(field)] as const] : below;
  });
}

function valueText(field: AnyField): string {
  return `\`${JSON.stringify(field.documentDefault)}\``;
}
