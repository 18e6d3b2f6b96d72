import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { launcherPath } from '../setup/bundle.ts';
import { serve } from './served.ts';

test('a closed output pipe causes no error message and keeps the exit code (E148)', async () => {
  const root = mkdtempSync(join(tmpdir(), 'heddle-pipe-'));
  const text = Array.from(
    { length: 3000 },
    (_, at) => `apiVersion: heddle.dev/v1\nkind: Grup\nmetadata: {name: g${at}}\nspec: {}\n`,
  );
  writeFileSync(join(root, 'a.yaml'), text.join('---\n'));
  const child = spawn(process.execPath, [launcherPath(), 'validate', root], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaints += chunk;
  });
  const [code] = await once(child, 'close');
  rmSync(root, { recursive: true });
  expect([code, complaints]).toEqual([5, '']);
});

test('a large result arrives completely in a pipe', async () => {
  const root = mkdtempSync(join(tmpdir(), 'heddle-pipe-'));
  const text = Array.from(
    { length: 3000 },
    (_, at) => `apiVersion: heddle.dev/v1\nkind: Grup\nmetadata: {name: g${at}}\nspec: {}\n`,
  );
  writeFileSync(join(root, 'a.yaml'), text.join('---\n'));
  const child = spawn(process.execPath, [launcherPath(), 'validate', root], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  const [code] = await once(child, 'close');
  rmSync(root, { recursive: true });
  expect(code).toBe(5);
  expect(out).toMatch(/\n\n3,000 problems in 1 file\.\n$/);
});

test('a closed output pipe is no error for a command that reads from the server (E148)', async () => {
  await using server = await serve();
  const env = { ...process.env, ...server.env };
  const child = spawn(process.execPath, [launcherPath(), 'export'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const [code] = await once(child, 'close');
  expect([code, complaints]).toEqual([0, '']);
});
