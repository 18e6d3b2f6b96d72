/** Returns a table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cellText).join(' | ')} |`)
    .join('\n')
    .concat('\n');
}

/** Returns a page: a notice that names the origin `from`, the title, and the parts, separated by empty lines. */
export function page(title: string, from: string, ...parts: readonly string[]): string {
  const notice = `<!-- Written by \`npm run gen\` from ${from}; do not edit. -->`;
  return `${[notice, `# ${title}`, ...parts.map((part) => part.trim())].join('\n\n')}\n`;
}

/**
 * Returns the page with `block` between `<!-- NAME: …-->` and `<!-- /NAME -->`. Throws when the page does not contain
 * these markers.
 */
export function replaceBlock(page: string, name: string, block: string): string {
  const found = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n)[^]*?(<!-- /${name} -->)`);
  if (!found.test(page)) throw new Error(`the page has no markers for its ${name}`);
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

/** Escapes `<` outside of code, so that Markdown does not read the text as an HTML tag. */
function escapeTags(part: string): string {
  return part.startsWith('`') ? part : part.replaceAll('<', '\\<');
}
