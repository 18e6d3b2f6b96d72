import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programVersion } from '../../src/version.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the single executable in a new, otherwise empty folder, and returns its path. */
export function makeExecutable(): string {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-release-'));
  const words = ['src/gen/release/executable.ts', '--out', folder];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  // The executable runs as another user.
  chmodSync(folder, 0o755);
  return join(folder, `heddle-${programVersion()}-linux-${process.arch}`);
}
