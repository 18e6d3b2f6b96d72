import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const launcher = fileURLToPath(new URL('../src/heddle.js', import.meta.url));
const pretendNode20 =
  'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'heddle-launcher-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

describe('the launcher', () => {
  test('runs the source of a checkout with the arguments, and returns the exit code', () => {
    const program = install('', { 'src/main.ts': printing('source'), 'dist/main.js': printing('build') });
    expect(outcome(run(program, ['plan', 'a b']))).toEqual(['source plan a b\n', '', 3]);
  });

  test('runs the build of an installed package, where Node does not strip types', () => {
    const files = { 'src/main.ts': printing('source'), 'dist/main.js': printing('build') };
    const program = install('node_modules/heddle', files);
    expect(outcome(run(program, ['plan']))).toEqual(['build plan\n', '', 3]);
  });

  test('runs the build when the source is not shipped', () => {
    const program = install('', { 'dist/main.js': printing('build') });
    expect(outcome(run(program, []))).toEqual(['build \n', '', 3]);
  });

  test('reports in one sentence that Node is too old, and exits with 1', () => {
    const program = install('', { 'src/main.ts': printing('source') });
    const [output, complaint, code] = outcome(run(program, [], ['--import', pretendNode20]));
    expect([output, code]).toEqual(['', 1]);
    expect(complaint).toMatch(/^Heddle needs Node 24\.7 or newer, and this is Node 20\.1\.0: [^.]*\.org\.\n$/);
  });

  test('runs with the bundled Node, if it is installed, when Node is too old', () => {
    const program = install('', { 'src/main.ts': printing('source'), ...bundledNode() });
    chmodSync(join(root, 'node_modules/node/bin/node'), 0o755);
    expect(outcome(run(program, ['a b'], ['--import', pretendNode20]))).toEqual(['source a b\n', '', 3]);
  });

  test('forwards a signal to the bundled Node and exits with its exit code', async () => {
    const waiting = "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('ready');";
    const program = install('', { 'src/main.ts': waiting, ...bundledNode() });
    chmodSync(join(root, 'node_modules/node/bin/node'), 0o755);
    const child = spawn(process.execPath, ['--import', pretendNode20, program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([7, null]);
  });
});

function install(folder: string, files: Readonly<Record<string, string>>): string {
  const all = { 'package.json': '{ "type": "module" }', ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, folder, path)), { recursive: true });
    writeFileSync(join(root, folder, path), text);
  }
  const program = join(root, folder, 'src/heddle.js');
  mkdirSync(dirname(program), { recursive: true });
  copyFileSync(launcher, program);
  return program;
}

/** Returns a program that prints `name` and its arguments, and exits with status 3. */
function printing(name: string): string {
  return `console.log(['${name}', process.argv.slice(2).join(' ')].join(' ')); process.exitCode = 3;`;
}

function bundledNode(): Readonly<Record<string, string>> {
  const node = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`;
  return { 'node_modules/node/package.json': '{}', 'node_modules/node/bin/node': node };
}

function run(program: string, args: readonly string[], options: readonly string[] = []): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [...options, program, ...args], { encoding: 'utf8' });
}

function outcome(result: SpawnSyncReturns<string>): readonly [string, string, number | null] {
  return [result.stdout, result.stderr, result.status];
}
