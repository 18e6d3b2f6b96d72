import { exec } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import { runHere } from './collect.ts';
import type { Ran } from './served.ts';

/** Environment in which the command lines of a transcript run. */
export interface Stage {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Events between command lines, by the text of their line in the transcript. */
  readonly events: Readonly<Record<string, () => Promise<unknown>>>;
}

/**
 * Runs the command lines (`$ …`) and events (`* …`) of a transcript in order. Returns the transcript with the current
 * output: standard output indented, standard error after `!`, and an exit code other than 0 in brackets.
 */
export async function replay(transcript: string, stage: Stage): Promise<string> {
  const lines: string[] = [];
  for (const line of transcript.split('\n').filter(isStated)) {
    if (lines.length > 0 && !lines.at(-1)?.startsWith('#')) lines.push('');
    lines.push(line, ...(await play(line, stage)));
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Returns whether a line is written by hand: a comment, an event or a command line. The output of commands is written
 * again.
 */
const isStated = (line: string) => /^[#$*] /.test(line);

async function play(line: string, stage: Stage): Promise<readonly string[]> {
  const text = line.slice(2);
  if (line.startsWith('#')) return [];
  if (line.startsWith('*')) {
    const event = stage.events[text];
    if (event === undefined) throw new Error(`nothing happens at: ${text}`);
    await event();
    return [];
  }
  const { code, out, note } = await run(text, stage);
  const shown = (prefix: string, written: string) =>
    written === ''
      ? []
      : normalize(written, stage)
          .replace(/\n$/, '')
          .split('\n')
          .map((one) => `${prefix}${one}`.trimEnd());
  return [...shown('  ', out), ...shown('! ', note), ...(code === 0 ? [] : [`[${code}]`])];
}

/**
 * Runs `heddle` inside this process, and all other commands in a shell. Variables before `heddle`, `$(cat FILE)`, `<`
 * and `>` work as in a shell.
 */
async function run(command: string, { directory, env }: Stage): Promise<Ran> {
  const [line = '', answer] = command.split(' # answered with ');
  const [, variables = '', words, redirection, file = ''] =
    /^((?:[A-Z_]+=\S* )*)heddle(.*?)(?: ([<>]) (\S+))?$/.exec(line) ?? [];
  if (words === undefined) return runShell(line, directory, env);
  const given = Object.fromEntries(
    variables
      .trim()
      .split(' ')
      .map((one) => one.split('=', 2)),
  );
  const path = join(directory, file);
  const input = redirection === '<' ? await readFile(path, 'utf8') : '';
  const ran = await runHere(
    wordsOf(await expand(words, directory)),
    { ...env, ...given },
    { readInput: async () => input, ...answering(answer) },
  );
  if (redirection !== '>') return ran;
  await writeFile(path, ran.out);
  return { ...ran, out: '' };
}

/**
 * Returns the options of a terminal that gives this answer to every question. Without an answer, there are no options.
 */
function answering(answer: string | undefined): Partial<Terminal> {
  return answer === undefined ? {} : { interactive: true, confirm: async () => answer === 'y' };
}

/** Replaces every `$(cat FILE)` with the content of the file. */
async function expand(text: string, directory: string): Promise<string> {
  const [named, file = ''] = /\$\(cat (\S+)\)/.exec(text) ?? [];
  if (named === undefined) return text;
  const content = await readFile(join(directory, file), 'utf8');
  return expand(text.replace(named, content.trim()), directory);
}

/** Splits a command line into words and removes their quotes. */
function wordsOf(text: string): readonly string[] {
  const words = text.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
  return words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}

async function runShell(command: string, cwd: string, env: Stage['env']): Promise<Ran> {
  const { stdout, stderr } = await promisify(exec)(command, { cwd, env: { ...process.env, ...env } });
  return { code: 0, out: stdout, note: stderr };
}

/** Replaces what differs from run to run by something as long, so that tables keep their columns. */
function normalize(text: string, { directory, env }: Stage): string {
  const varying: readonly (readonly [RegExp | string, string])[] = [
    [directory, '/work'],
    [env['HEDDLE_SERVER'] ?? '', 'http://127.0.0.1:8080'],
    [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, '2026-01-02T03:04:05'],
    [/\.\d{3}Z\b/g, '.006Z'],
    [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '2026-01-02 03:04:05'],
    [/\b\d{4}-\d\d-\d\d\b/g, '2026-01-02'],
    [/the key \S{16} /g, 'the key KKKKKKKKKKKKKKKK '],
    [/\bkey-[0-9a-f]{40}\b/g, `key-${'e'.repeat(40)}`],
    [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '01234567-89ab-4cde-8f01-23456789abcd'],
    [/Node \d+\.\d+\.\d+/g, 'Node 24.0.0'],
    [/\b[0-9a-f]{64}\b/g, 'd'.repeat(64)],
    [/\b[0-9a-v]{20}\b/g, 'i'.repeat(20)],
  ];
  return varying.reduce((all, [pattern, stable]) => all.replaceAll(pattern, stable), text);
}
