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
