import type { Page } from './pages.ts';

/** A command that a page shows, and the output that the page shows for it. */
export interface Shown {
  readonly command: string;
  readonly output: string;
}

/** Something that a page tells its reader to do, or a log that it shows. */
export type Step =
  | { readonly type: 'file'; readonly path: string; readonly text: string }
  | { readonly type: 'commands'; readonly shown: readonly Shown[] }
  | { readonly type: 'log'; readonly lines: readonly string[] };

/** Returns the steps of a page, in order: its blocks of commands, and the instructions in comments before blocks. */
export function stepsOf(page: Page): readonly Step[] {
  const parts = page.text.matchAll(/<!-- (.*?) ?-->\n|^```(\w+)\n(.*?)^```/gms);
  const steps: Step[] = [];
  let note = '';
  for (const [, comment, language, text = ''] of parts) {
    if (comment !== undefined) {
      note = comment;
      const [, script] = /^run:(.*)/s.exec(note) ?? [];
      if (script !== undefined) steps.push({ type: 'commands', shown: [{ command: script.trim(), output: '…' }] });
      continue;
    }
    const step = note.startsWith('run by') ? undefined : stepOf(note, language ?? '', text);
    if (step) steps.push(step);
    note = '';
  }
  return steps;
}

function stepOf(note: string, language: string, text: string): Step | undefined {
  if (note.startsWith('file: ')) return { type: 'file', path: note.slice('file: '.length), text };
  if (note === 'log') return { type: 'log', lines: text.trimEnd().split('\n') };
  return language === 'console' ? { type: 'commands', shown: shownIn(text) } : undefined;
}

/** Returns the commands of a block: the lines after `$`, with the lines that a backslash continues. */
function shownIn(text: string): readonly Shown[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = ''] = /^(?:.*\\\n)*.*/.exec(part) ?? [];
      return { command, output: part.slice(command.length).trim() };
    });
}

/** Patterns for text that differs from run to run. */
const varying = [
  /\d{4}-\d\d-\d\dT[\d:.]+Z/, // times
  /\b\d\d:\d\d:\d\d\b/, // times of the log
  /\b[0-9a-f]{64}\b/, // digests
  /\b[0-9a-v]{20}\b/, // ids
  /http:\/\/127\.0\.0\.1:\d+/,
  /…/, // whatever the page leaves out
];

const escapeText = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Returns a pattern that matches the output that a page shows. The varying parts may be any text. */
export function patternOf(shown: string): RegExp {
  const any = new RegExp(varying.map(({ source }) => source).join('|'));
  const pieces = shown.split(any).map((piece) => escapeText(piece));
  return new RegExp(`^${pieces.join('.*?')}$`, 's');
}
