import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeProgram } from '../../src/gen/release/program.ts';
import { makeExecutable } from '../setup/executable.ts';
import type { Benchmark, Row } from './result.ts';
import { inTurns, time } from './timing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const quickstart = join(root, 'examples/quickstart');

/** Arguments of a command, and the maximum ratio of its time to the reference, for the command of the package. */
const measured = [
  { words: ['version'], most: 2 },
  { words: ['--help'], most: 2 },
  { words: ['completion', 'bash'], most: 2 },
  { words: ['fmt', '--check', quickstart], most: 4 },
  { words: ['validate', quickstart], most: 4.25 },
] as const;

/**
 * Time from start to end of the process of a short command, for each way to install the program. Node has already
 * compiled the files of the package and of the checkout. The reference is a Node process that does nothing. It takes 35
 * ms on an idle machine, so no command of the package takes more than 150 ms.
 */
export const commands: Benchmark = {
  name: 'commands',
  async run(stand) {
    const launcher = await installIn(await stand.directory());
    const executable = makeExecutable();
    const ways = [
      { name: 'package', start: [process.execPath, launcher], isJudged: true },
      { name: 'executable', start: [executable], isJudged: false },
      { name: 'checkout', start: [process.execPath, join(root, 'src/heddle.js')], isJudged: false },
    ];
    const rows: Row[] = [];
    for (const { words, most } of measured) {
      for (const { name, start, isJudged } of ways) {
        const what = `heddle ${words[0]} of the ${name}, start to end`;
        const budget = isJudged ? { budget: { is: 'at most', value: most } as const } : {};
        const command = () => run([...start, ...words]);
        await command();
        rows.push({
          what,
          ...(await inTurns(9, command, () => run([process.execPath, '-e', '0']))),
          unit: 'ms',
          ...budget,
        });
      }
    }
    rmSync(dirname(executable), { recursive: true });
    return rows;
  },
};

function run([program = '', ...words]: readonly string[]): Promise<number> {
  return time(() => {
    const { status, stderr } = spawnSync(program, words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  });
}

/** Installs the files of the package. Returns the path of the launcher. */
async function installIn(folder: string): Promise<string> {
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const file of ['package.json', 'src/heddle.js']) copyFileSync(join(root, file), join(folder, file));
  await writeProgram(join(folder, 'dist'));
  return join(folder, 'src/heddle.js');
}
