import type { Page } from './pages.ts';

/** A command that a page shows, with what it prints there. */
export interface Shown {
  readonly command: string;
  readonly output: string;
}

/** What a page asks of its reader, in its order. */
export type Step =
  | { readonly type: 'file'; readonly path: string; readonly text: string }
  | { readonly type: 'commands'; readonly shown: readonly Shown[] }
  | { readonly type: 'log'; readonly lines: readonly string[] };

/** The steps of a page: its blocks of commands, and what comments before blocks say. */
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

/** The commands of a block: lines after `$`, with those that a backslash continues. */
function shownIn(text: string): readonly Shown[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = ''] = /^(?:.*\\\n)*.*/.exec(part) ?? [];
      return { command, output: part.slice(command.length).trim() };
    });
}

/** What differs from run to run. */
const varying = [
  /\d{4}-\d\d-\d\dT[\d:.]+Z/, // times
  /\b\d\d:\d\d:\d\d\b/, // times of the log
  /\b[0-9a-f]{64}\b/, // digests
  /\b[0-9a-v]{20}\b/, // ids
  /http:\/\/127\.0\.0\.1:\d+/,
  /…/, // whatever the page leaves out
];

const escapeText = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** A pattern for what a page shows: what varies may be anything. */
export function patternOf(shown: string): RegExp {
  const any = new RegExp(varying.map(({ source }) => source).join('|'));
  const pieces = shown.split(any).map((piece) => escapeText(piece));
  return new RegExp(`^${pieces.join('.*?')}$`, 's');
}
