import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('E109 the digest is the same in every process, in any order of the documents', async () => {
  const script = fileURLToPath(new URL('digest-process.ts', import.meta.url));
  const run = async (order: string) => (await promisify(execFile)(process.execPath, [script, order])).stdout;
  const digests = await Promise.all([run('forward'), run('forward'), run('reversed')]);
  expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(digests).size).toBe(1);
});
