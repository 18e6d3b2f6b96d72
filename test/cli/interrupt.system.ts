import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { launcherPath } from '../setup/bundle.ts';
import { documents, groupsOf } from './one-group.ts';
import { type Served, serve } from './served.ts';

/** Starts `heddle apply` in a separate process and collects its output. */
async function startApply(served: Served, folder: string) {
  const env = { ...process.env, ...served.env, NO_COLOR: '1' };
  const child = spawn(process.execPath, [launcherPath(), 'apply', folder, '--source-name', 'big', '--auto-approve'], {
    env,
  });
  const written = { out: '', note: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.note += text;
  });
  return { child, written };
}

it('Ctrl-C while the server applies a plan does not stop the server, and the command reports the result (E149)', async () => {
  await using served = await serve();
  const hold = await served.holdCommits();
  const { child, written } = await startApply(served, await documents('interrupted'));
  await hold.waited();
  child.kill('SIGINT');
  await expect.poll(() => written.note).toContain('cannot be stopped half-way');
  await hold.release();
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(written.out).toMatch(/Applied as revision \d+\.\n$/);
  expect(await groupsOf(served)).toContain('interrupted');
});
