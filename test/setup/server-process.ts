import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programFile } from './bundle.ts';

/** How a process is started. */
export interface Process {
  readonly execArgv: string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * How processes of tests run that are servers, or parts of one. The embedded database is compiled quickly and not well:
 * making the best of it takes a second of CPU, and no such process lives long enough to make up for that. They share what
 * was compiled with each other only, because it is good under the same flags only.
 */
export function serverProcess(): Process {
  const { HEDDLE_TEST_COMPILED: cache, ...env } = process.env;
  if (cache === undefined) return { execArgv: [], env };
  return { execArgv: ['--liftoff-only'], env: { ...env, NODE_COMPILE_CACHE: cache } };
}

/** Compiles servers before the first one starts: those that are killed, as most are, leave nothing of that to others. */
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
