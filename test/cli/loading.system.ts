import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const commandModules = [...read('src/cli/commands.ts').matchAll(/import\('\.\/([\w/-]+\.ts)'\)/g)].map(
  ([, path]) => `src/cli/${path}`,
);

/** Reports on standard error, as one JSON document, which files of `src` the process loaded. */
const reportLoaded = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
process.on('exit', () => process._rawDebug(JSON.stringify(loaded)));`;

describe('the modules of commands', () => {
  test.each([
    ['the help of the program', ['--help'], []],
    ['the list of commands without a command', [], []],
    ['a wrong command', ['pln'], []],
    ['the completion script of bash', ['completion', 'bash'], ['src/cli/completion.ts']],
    ['the completion script of fish', ['completion', 'fish'], ['src/cli/completion.ts']],
    ['the version', ['--version'], ['src/cli/version.ts']],
  ])('that %s loads are only those that it calls', (_, words, expected) => {
    expect(commandModules.length).toBeGreaterThan(30);
    const loaded = loadedBy(words);
    expect(loaded).toContain('src/cli/program.ts');
    expect(loaded.filter((path) => commandModules.includes(path))).toEqual(expected);
  });
});

/** Returns the files of the checkout that a command line loads. */
function loadedBy(words: readonly string[]): readonly string[] {
  const hooks = `data:text/javascript,${encodeURIComponent(reportLoaded)}`;
  const { stderr } = spawnSync(process.execPath, ['--import', hooks, `${root}src/heddle.js`, ...words], {
    encoding: 'utf8',
  });
  const urls = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as readonly string[];
  return urls.flatMap((url) => (url.startsWith('file:') ? [fileURLToPath(url).slice(root.length)] : []));
}

function read(path: string): string {
  return readFileSync(root + path, 'utf8');
}
