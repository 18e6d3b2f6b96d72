/** A part of the README that is written from the declarations. */
export interface Section {
  /** Stands in the markers around it: `<!-- generated:name -->` and `<!-- /generated:name -->`. */
  readonly name: string;
  /** Where it comes from. */
  readonly from: string;
  readonly text: string;
}

/** The README with fresh sections between their markers. A README without a place for one is refused: it would be lost. */
export function withSections(readme: string, sections: readonly Section[]): string {
  return sections.reduce(withSection, readme);
}

function withSection(readme: string, { name, from, text }: Section): string {
  const [begin, end] = markersOf(name);
  const at = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (at < 0 || to < at) throw new Error(`README.md has no place for its ${name}; add the lines ${begin} and ${end}`);
  const note = `<!-- Written by \`npm run gen\` from ${from}; do not edit. -->`;
  return `${readme.slice(0, at + begin.length)}\n${note}\n\n${text}\n${readme.slice(to)}`;
}

/** A README that holds nothing but the places of its sections. */
export function emptyReadme(sections: readonly Section[]): string {
  return ['# Heddle', ...sections.map(({ name }) => markersOf(name).join('\n')), ''].join('\n\n');
}

function markersOf(name: string): readonly [begin: string, end: string] {
  return [`<!-- generated:${name} -->`, `<!-- /generated:${name} -->`];
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cellText).join(' | ')} |`)
    .join('\n')
    .concat('\n');
}

function cellText(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
