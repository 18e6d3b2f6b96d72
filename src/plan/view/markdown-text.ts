import type { Problem } from '../../model/problem.ts';

/** Maximum number of lines of a list. */
const maxLines = 50;

/** Escapes foreign text for Markdown prose: it contains no markup, and mentions no user. */
export function escapeProse(text: string): string {
  return escapeHtml(oneLine(text))
    .replace(/[\\`*_{}[\]#|~]/g, (mark) => `\\${mark}`)
    .replaceAll('@', '@\u200b');
}

/** Escapes foreign text for HTML. */
export function escapeHtml(text: string): string {
  return oneLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Renders foreign text as inline code. */
export function inlineCode(text: string): string {
  const inner = oneLine(text);
  const fence = '`'.repeat(longestRun(inner) + 1);
  const pad = inner.startsWith('`') || inner.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${inner}${pad}${fence}`;
}

/** Renders foreign lines as a fenced diff block. */
export function fenced(lines: readonly string[]): string {
  const body = lines.map(oneLine).join('\n');
  const fence = '`'.repeat(Math.max(3, longestRun(body) + 1));
  return `${fence}diff\n${body}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** Replaces control characters by spaces, because they could end a line or change the direction of its text. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** Shortens a text that is too long, and appends its full length. */
export function truncate(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room)}… (${text.length} characters)`;
}

/** Returns a number with its noun, in the singular or plural. */
export function countText(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Renders a problem as a Markdown list item. */
export function problemLine({ message, file, line }: Problem): string {
  const position = file === undefined ? '' : `${inlineCode(line === undefined ? file : `${file}:${line}`)}: `;
  return `- ${position}${escapeProse(message)}`;
}

/** Returns at most `maxLines` lines, and the number of lines left out. */
export function truncateLines(lines: readonly string[]): string {
  const shown = lines.slice(0, maxLines).map((line) => truncate(line, 500));
  return [...shown, ...(lines.length > maxLines ? [`- and ${lines.length - maxLines} more`] : [])].join('\n');
}
