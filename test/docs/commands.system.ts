import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { launcherPath } from '../setup/bundle.ts';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { patternOf, type Step, stepsOf } from './blocks.ts';
import { root, writtenPages } from './pages.ts';
import { openShell, type Shell } from './shell.ts';

/** A reader of a page, in the state in which the quick start left them. */
interface Reader {
  readonly directory: string;
  readonly shell: Shell;
  readonly server: ServedHeddle;
}

/** A command whose printed output differs from the output that the page shows. */
interface Difference {
  readonly command: string;
  readonly shown: string;
  readonly printed: string;
}

/** How error output of programs begins. The `…` of a page does not match such output. */
const failure = /^(?:error|bash|sed|curl): /m;

async function follow(step: Step, { directory, shell, server }: Reader): Promise<readonly Difference[]> {
  switch (step.type) {
    case 'file':
      await mkdir(dirname(join(directory, step.path)), { recursive: true });
      await writeFile(join(directory, step.path), step.text);
      return [];
    case 'log':
      for (const line of step.lines) await server.line(patternOf(line));
      return [];
    case 'commands': {
      const differences: Difference[] = [];
      for (const { command, output } of step.shown) {
        const printed = await shell.run(command);
        const failed = failure.test(printed) && !failure.test(output);
        if (failed || !patternOf(output).test(printed)) differences.push({ command, shown: output, printed });
      }
      return differences;
    }
  }
}

const pagesWithCommands = writtenPages.filter((page) => stepsOf(page).some((step) => step.type === 'commands'));

test.each(pagesWithCommands.map((page) => [page.path, page] as const))(
  'the commands in %s print what the page shows',
  async (_path, page) => {
    const directory = await temporaryDirectory();
    await cp(join(root, 'examples/quickstart'), join(directory, 'examples/quickstart'), { recursive: true });
    await copyEmbedded(join(directory, '.heddle'));
    await using server = await serveHeddle(['--source', 'examples/quickstart'], { cwd: directory });
    await server.line(/documents, revision/);
    await using shell = openShell(directory, launcherPath(), server.url);
    const differences: Difference[] = [];
    for (const step of stepsOf(page)) differences.push(...(await follow(step, { directory, shell, server })));
    expect(differences).toEqual([]);
  },
);
