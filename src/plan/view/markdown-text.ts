import type { Problem } from '../../model/problem.ts';

/** How many lines of a list are shown one by one. */
const mostLines = 50;

/** Foreign text inside our own: nothing of it is markup, and it mentions no user. */
export function prose(text: string): string {
  return html(oneLine(text))
    .replace(/[\\`*_{}[\]#|~]/g, (mark) => `\\${mark}`)
    .replaceAll('@', '@\u200b');
}

/** Text of others inside HTML. */
export function html(text: string): string {
  return oneLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Text of others as code. */
export function code(text: string): string {
  const inner = oneLine(text);
  const fence = '`'.repeat(longestRun(inner) + 1);
  const pad = inner.startsWith('`') || inner.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${inner}${pad}${fence}`;
}

/** Lines of others as a diff. */
export function fenced(lines: readonly string[]): string {
  const body = lines.map(oneLine).join('\n');
  const fence = '`'.repeat(Math.max(3, longestRun(body) + 1));
  return `${fence}diff\n${body}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** Control characters would end a line, or change the direction of it. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** The beginning of a text that is too long, and how long it is. */
export function cut(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room)}… (${text.length} characters)`;
}

/** A number with its noun. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** A problem as an item of a list. */
export function problemLine({ message, file, line }: Problem): string {
  const place = file === undefined ? '' : `${code(line === undefined ? file : `${file}:${line}`)}: `;
  return `- ${place}${prose(message)}`;
}

/** As many lines as people read, and how many more there are. */
export function shortened(lines: readonly string[]): string {
  const shown = lines.slice(0, mostLines).map((line) => cut(line, 500));
  return [...shown, ...(lines.length > mostLines ? [`- and ${lines.length - mostLines} more`] : [])].join('\n');
}
