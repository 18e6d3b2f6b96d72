import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { programVersion } from '../../src/version.ts';
import type { Benchmark, Row } from './result.ts';
import { time } from './timing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const version = programVersion();
const executableName = `heddle-${version}-linux-${process.arch}`;

/**
 * A way from nothing to the first applied document: the commands that a user types in an empty folder. The last command
 * starts the server.
 */
interface Way {
  readonly name: string;
  readonly steps: readonly (readonly string[])[];
}

/**
 * Time from an empty folder and an empty npm cache to the first applied documents on the embedded database, for each
 * way of `docs/install.md`. The package and the executable are built beforehand, because users download them; the build
 * times are reported too. The reference is the way with the executable.
 */
export const install: Benchmark = {
  name: 'install',
  onlyByName: true,
  async run(stand) {
    const made = await stand.directory();
    const packing = await time(() => run(['npm', 'pack', '--silent', '--pack-destination', made], root));
    const folder = join(made, 'executable');
    const building = await time(() => run(['npm', 'run', '--silent', 'build:executable', '--', '--out', folder], root));
    const measured = [];
    for (const way of waysFrom(made, folder)) measured.push({ way, ...(await follow(way, await stand.directory())) });
    const reference = measured.at(-1)?.total;
    if (reference === undefined) throw new Error('there is no way');
    return [
      ...measured.flatMap(({ way, total, parts }): readonly Row[] => [
        { what: `nothing to applied: ${way.name}`, figure: total, reference, unit: 's' },
        ...parts.map(([step, figure]): Row => ({ what: `  ${step}`, figure, unit: 's' })),
      ]),
      { what: 'making the package', figure: packing / 1000, unit: 's' },
      { what: 'making the executable', figure: building / 1000, unit: 's' },
    ];
  },
};

function waysFrom(made: string, folder: string): readonly Way[] {
  const serve = ['serve', '--source', 'quickstart'];
  return [
    {
      name: 'a clone',
      // `--no-local` copies every Git object, as a clone from another machine does.
      steps: [
        ['git', 'clone', '--quiet', '--no-local', root, '.'],
        ['npm', 'ci'],
        ['npm', 'start'],
      ],
    },
    {
      name: 'the package',
      steps: [
        ['npm', 'install', join(made, `heddle-${version}.tgz`)],
        ['npx', 'heddle', ...serve],
      ],
    },
    {
      name: 'the executable',
      steps: [
        ['cp', join(folder, executableName), 'heddle'],
        ['./heddle', ...serve],
      ],
    },
  ];
}

/** Runs the commands of one way. Returns the duration of each command and of the whole way, in seconds. */
async function follow({ name, steps }: Way, directory: string) {
  const parts: (readonly [string, number])[] = [];
  const home = join(directory, 'home');
  mkdirSync(home);
  if (name !== 'a clone') cpSync(join(root, 'examples/quickstart'), join(home, 'quickstart'), { recursive: true });
  const env = environment(directory);
  for (const step of steps) {
    const isLast = step === steps.at(-1);
    const start = performance.now();
    const end = isLast ? await untilApplied(step, home, env) : run(step, home, env);
    const taken = end - start;
    parts.push([nameOf(step), taken / 1000]);
  }
  return { parts, total: parts.reduce((sum, [, taken]) => sum + taken, 0) };
}

/**
 * Returns the environment with a separate npm cache, and without the variables that `npm` sets when it runs this
 * benchmark.
 */
function environment(directory: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([key]) => !/^npm_(package|lifecycle|command|execpath)/.test(key));
  return { ...Object.fromEntries(own), npm_config_cache: join(directory, 'cache'), HEDDLE_LISTEN: '127.0.0.1:0' };
}

function nameOf(step: readonly string[]): string {
  return step.map((word) => (word.startsWith('/') ? basename(word) : word)).join(' ');
}

/** Runs a command. Returns the time at which it ended, in milliseconds. */
function run([program = '', ...words]: readonly string[], cwd: string, env = process.env): number {
  const { status, stderr, stdout } = spawnSync(program, words, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: ${stdout}${stderr}`);
  return performance.now();
}

/** Starts a server and waits until it has applied the documents. Returns the time at which it had, in milliseconds. */
async function untilApplied([program = '', ...words]: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  // Detached: npm runs between this process and the server, so the signal to stop is sent to the whole process group.
  const child = spawn(program, words, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let isApplied = false;
  for await (const line of createInterface({ input: child.stdout })) {
    isApplied = /source quickstart: \d+ documents, revision \d+/.test(line);
    if (isApplied) break;
  }
  const end = performance.now();
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
  await ended;
  if (!isApplied) throw new Error(`${program} ${words.join(' ')} ended before it had applied anything`);
  return end;
}
