import { type AnyField, entriesOf, type Fields } from '../model/field.ts';
import type { Kind } from '../model/kind.ts';
import type { Registry } from '../model/registry.ts';
import { table } from './readme.ts';

/** The kinds: what each is, where it is served, and what its documents may leave out. */
export function kindTable(registry: Registry): string {
  const rows = registry.kinds.map((kind) => [
    `\`${kind.name}\``,
    kind.doc,
    endpointsOf(kind),
    documentsOf(kind),
    defaultsOf(kind),
  ]);
  return table(['Kind', 'What it is', 'Endpoints', 'Documents', 'A document may leave out'], rows);
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
