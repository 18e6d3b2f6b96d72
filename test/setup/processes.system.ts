import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const module = new URL('./processes.ts', import.meta.url).href;

const directory = () => mkdtempSync(join(tmpdir(), 'heddle-run-'));

// A run that starts an endless process, which starts another one. Both print their process ids and keep running.
const run = `
  import { spawn } from 'node:child_process';
  import { endProcessesWithRun } from '${module}';
  endProcessesWithRun(process.argv[1]);
  const idle = 'console.log(process.pid); setInterval(() => {}, 1000);';
  const nested = \`require('node:child_process').spawn(process.execPath, ['-e', \${JSON.stringify(idle)}], { stdio: 'inherit', detached: true }); \${idle}\`;
  spawn(process.execPath, ['-e', nested], { stdio: 'inherit', detached: true });`;

// A run whose tests have ended, but which has left one process running.
const untidy = `
  import { spawn } from 'node:child_process';
  import { endProcessesWithRun, expectNoProcesses } from '${module}';
  endProcessesWithRun(process.argv[1]);
  await expectNoProcesses(0);
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await expectNoProcesses(0).catch(({ message }) => console.log(message));
  child.kill();
  await expectNoProcesses();`;

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it.runIf(process.platform === 'linux')(
  'a test run that is killed ends its processes and deletes its files',
  async () => {
    const files = directory();
    writeFileSync(join(files, 'one'), '');
    const child = spawn(process.execPath, ['--input-type=module', '--eval', run, files], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pids: number[] = [];
    for await (const line of createInterface(child.stdout)) if (pids.push(Number(line)) === 2) break;
    expect(pids.every(isAlive)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    await expect.poll(() => existsSync(files)).toBe(false);
  },
);

it.runIf(process.platform === 'linux')(
  'a test run that leaves a process behind fails and names the process',
  async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', untidy, directory()], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(output).toMatch(/^the tests left processes behind; .*\n\d+ \S*node -e setInterval/);
    expect(code).toBe(0);
  },
);
