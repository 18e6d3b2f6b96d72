import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../setup/database.ts';
import { addExamples } from './examples.ts';
import { root } from './pages.ts';

test('the examples for contributors compile without type errors', async () => {
  const directory = await temporaryDirectory();
  await addExamples(directory);
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '--project', directory], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env['PATH']}` },
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});
