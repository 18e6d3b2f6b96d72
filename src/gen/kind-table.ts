import { type AnyField, entriesOf, type Fields } from '../model/field.ts';
import type { Kind } from '../model/kind.ts';
import type { Registry } from '../model/registry.ts';

const begin = '<!-- generated:kinds -->';
const end = '<!-- /generated:kinds -->';
const note = '<!-- Written by `npm run gen` from src/kinds; do not edit. -->';

/** The README with a fresh kind table between its markers. A README without them is refused: the table would be lost. */
export function withKindTable(readme: string, registry: Registry): string {
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from < 0 || to < from)
    throw new Error(`README.md has no place for the kind table; add the lines ${begin} and ${end}`);
  return `${readme.slice(0, from + begin.length)}\n${note}\n\n${kindTable(registry)}\n${readme.slice(to)}`;
}

/** A README that holds nothing but the place of the table. */
export const emptyReadme = `# Heddle\n\n${begin}\n${end}\n`;

function kindTable(registry: Registry): string {
  const rows = registry.kinds.map((kind) => [
    `\`${kind.name}\``,
    kind.doc,
    endpointsOf(kind),
    documentsOf(kind),
    defaultsOf(kind),
  ]);
  const head = ['Kind', 'What it is', 'Endpoints', 'Documents', 'A document may leave out'];
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cellText).join(' | ')} |`)
    .join('\n')
    .concat('\n');
}

function cellText(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function endpointsOf(kind: Kind): string {
  if (kind.path === undefined) return 'none';
  const all = ['list', 'create', 'read', 'replace', 'delete'];
  const some = all.every((verb) => kind.verbs.some((offered) => offered === verb)) ? '' : ` (${kind.verbs.join(', ')})`;
  return `\`${kind.path}\`${some}`;
}

function documentsOf(kind: Kind): string {
  if (!kind.document.allowed) return `no: ${kind.document.why}`;
  if (kind.singleton !== undefined) return `yes, one, called \`${kind.singleton}\``;
  const { inline, kind: parent } = kind.parent ?? {};
  return inline === undefined ? 'yes' : `yes, also as \`${inline}\` of ${parent}`;
}

/** Fields that requests must carry and documents need not, with what they are then. */
function defaultsOf(kind: Kind): string {
  if (!kind.document.allowed) return '';
  return documentDefaults(kind.spec, '')
    .map(([path, value]) => `\`${path}\`: ${value}`)
    .join(', ');
}

function documentDefaults(fields: Fields, prefix: string): readonly (readonly [string, string])[] {
  return entriesOf(fields).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const below = 'fields' in field ? documentDefaults(field.fields, `${path}.`) : [];
    // The members of an object that may be left out say more than the empty object.
    const isOwn = field.documentDefault !== undefined && below.length === 0;
    return isOwn ? [[path, valueText(field)] as const] : below;
  });
}

function valueText(field: AnyField): string {
  return `\`${JSON.stringify(field.documentDefault)}\``;
}
