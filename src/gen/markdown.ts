/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cellText).join(' | ')} |`)
    .join('\n')
    .concat('\n');
}

/** A page: its title and its parts, with an empty line between them. */
export function page(title: string, from: string, ...parts: readonly string[]): string {
  const notice = `<!-- Written by \`npm run gen\` from ${from}; do not edit. -->`;
  return `${[notice, `# ${title}`, ...parts.map((part) => part.trim())].join('\n\n')}\n`;
}

/** A page with another text between `<!-- NAME: …-->` and `<!-- /NAME -->`. */
export function withBlock(page: string, name: string, block: string): string {
  const found = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n)[^]*?(<!-- /${name} -->)`);
  if (!found.test(page)) throw new Error(`the page has no place for its ${name}`);
  return page.replace(found, (_, begin: string, end: string) => `${begin}\n${block}\n${end}`);
}

function cellText(cell: string): string {
  return cell
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    .split(/(`[^`]*`)/)
    .map(escapeTags)
    .join('');
}

/** What looks like a tag of HTML is not shown, unless it is code. */
function escapeTags(part: string): string {
  return part.startsWith('`') ? part : part.replaceAll('<', '\\<');
}
