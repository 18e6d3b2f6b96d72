import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeProgram } from '../../src/gen/release/program.ts';
import type { Benchmark, Row } from './result.ts';
import { inTurns, time } from './timing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * From the start of the process of a short command to its end, with the files of the package and a Node that has compiled
 * them before. The reference is a Node that does nothing. On an idle machine it takes 35 ms.
 */
export const commands: Benchmark = {
  name: 'commands',
  async run(stand) {
    const launcher = await installIn(await stand.directory());
    const run = (words: readonly string[]) => (): Promise<number> =>
      time(() => {
        const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
        if (status !== 0) throw new Error(stderr);
      });
    const row = async (what: string, words: readonly string[], most: number): Promise<Row> => {
      const start = run([launcher, ...words]);
      await start();
      const measured = await inTurns(9, start, run(['-e', '0']));
      return { what, ...measured, unit: 'ms', budget: { is: 'at most', value: most } };
    };
    return [
      await row('heddle version, start to end', ['version'], 3),
      await row('heddle validate of the quick start', ['validate', join(root, 'examples/quickstart')], 6),
    ];
  },
};

/** The files of the package. */
async function installIn(folder: string): Promise<string> {
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const file of ['package.json', 'src/heddle.js']) copyFileSync(join(root, file), join(folder, file));
  await writeProgram(join(folder, 'dist'));
  return join(folder, 'src/heddle.js');
}
