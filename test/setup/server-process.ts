import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programFile } from './bundle.ts';

/** Options to start a process. */
export interface Process {
  readonly execArgv: string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns the options for test processes that are servers, or parts of one. They compile the embedded database fast and
 * without optimization (`--liftoff-only`): optimizing takes a second of CPU, and no such process lives long enough to
 * gain that back. They have a separate compile cache, because cached code is only valid under the same flags.
 */
export function serverProcess(): Process {
  const { HEDDLE_TEST_COMPILED: cache, ...env } = process.env;
  if (cache === undefined) return { execArgv: [], env };
  return { execArgv: ['--liftoff-only'], env: { ...env, NODE_COMPILE_CACHE: cache } };
}

/**
 * Compiles the servers' modules into the cache before the first server starts. Most servers are killed, and a killed
 * process writes nothing to the cache.
 */
export async function compileServers(cache: string): Promise<void> {
  process.env['HEDDLE_TEST_COMPILED'] = cache;
  const modules = [
    'src/app.ts',
    'src/cli/program.ts',
    'src/cli/server/serve.ts',
    'src/db/embedded/embedded.ts',
    'src/db/postgres.ts',
  ] as const;
  const script = `await Promise.all(${JSON.stringify(modules.map((path) => programFile(path).href))}.map((url) => import(url)));`;
  const { execArgv, env } = serverProcess();
  const child = spawn(process.execPath, [...execArgv, '--input-type=module', '--eval', script], { env });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`servers could not be compiled: exit code ${code}`);
}
