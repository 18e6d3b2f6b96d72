import type { AnyField, Fields } from '../model/schema/field.ts';

/** Fields that may begin at a column of the document, which are those of one object. */
interface Level {
  readonly column: number;
  readonly fields: Fields;
  readonly path: string;
}

const width = 100;

/** Adds the documentation of each field as a comment above its first occurrence in the `spec` of a YAML document. */
export function commentFields(text: string, fields: Fields): string {
  const seen = new Set<string>();
  const result: string[] = [];
  let levels: readonly Level[] = [];
  for (const line of text.split('\n')) {
    const { begin, column, name } = locateMember(line);
    if (column === 0 && name !== undefined) levels = name === 'spec' ? [{ column: 2, fields, path: '' }] : [];
    else if (name !== undefined) levels = levels.filter((level) => level.column <= column);
    const level = levels.at(-1);
    const field = level?.column === column && name !== undefined ? level.fields[name] : undefined;
    if (level !== undefined && field !== undefined) {
      const path = `${level.path}/${name}`;
      if (!seen.has(path)) result.push(...wrap(docOf(field), begin).map((words) => `${' '.repeat(begin)}# ${words}`));
      seen.add(path);
      levels = [...levels, ...levelBelow(field, column, path)];
    }
    result.push(line);
  }
  return result.join('\n');
}

/**
 * Returns the member that a line begins with. `begin` is the column of its dash or name, `column` the column of its
 * name.
 */
function locateMember(line: string): { readonly begin: number; readonly column: number; readonly name?: string } {
  const [, space = '', dash = '', name] = /^( *)(- )?(\w+):(?: |$)/.exec(line) ?? [];
  const columns = { begin: space.length, column: space.length + dash.length };
  return name === undefined ? columns : { ...columns, name };
}

/**
 * Returns the level of a field's members. Members of an object are indented by two columns, members of objects in a
 * list by four, because of the dash.
 */
function levelBelow(field: AnyField, column: number, path: string): readonly Level[] {
  if (field.type === 'object') return [{ column: column + 2, fields: field.fields, path }];
  if (field.type === 'keyed') return [{ column: column + 4, fields: field.fields, path }];
  if (field.type === 'list' && field.of.type === 'object')
    return [{ column: column + 4, fields: field.of.fields, path }];
  return [];
}

function docOf(field: AnyField): string {
  const unit = field.type === 'integer' && field.unit !== undefined ? ` In ${field.unit}.` : '';
  const words = field.type === 'enum' ? ` One of ${field.values.map((value) => `\`${value}\``).join(', ')}.` : '';
  const value = field.documentDefault ?? field.default;
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value) && value !== '';
  return `${field.doc}${unit}${words}${isPlain ? ` Default: ${String(value)}.` : ''}`;
}

/** Breaks a text into lines that fit behind an indented comment sign. */
export function wrap(text: string, indent: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && indent + 2 + line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
