import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/setup/reporter.ts';
import { ProcessesFirst } from './test/setup/sequencer.ts';

/**
 * Files to run in each mode. `--mode large` runs the tests with much data, many random runs or real delays
 * (`*.large.ts`) instead of the default ones, `--mode system` the tests that start programs (`*.system.ts`), `--mode
 * soak` the long loops (`*.soak.ts`), `--mode kubernetes` the tests that need a Kubernetes API server (`*.kube.ts`), and
 * `--mode release` the tests of published artifacts (`*.release.ts`), including clients generated from the API
 * description. `--mode pure` starts no database.
 */
const suffixes: Readonly<Record<string, string>> = {
  ...{ large: 'large', system: 'system', soak: 'soak', kubernetes: 'kube', release: 'release' },
};
const withoutDatabase = ['pure'];
const withoutPrograms = ['test', 'large', 'pure'];

export default defineConfig(({ mode }) => ({
  test: {
    include: [`test/**/*.${suffixes[mode] ?? 'test'}.ts`],
    globalSetup: [
      ...(withoutDatabase.includes(mode) ? [] : ['test/setup/postgres.ts']),
      ...(withoutPrograms.includes(mode) ? [] : ['test/setup/program.ts']),
      ...(mode === 'kubernetes' ? ['test/kubernetes/setup.ts'] : []),
    ],
    setupFiles: withoutDatabase.includes(mode) ? [] : ['test/setup/each-file.ts'],
    // The files of a worker share imported modules and the databases that earlier files used. Both took a third of the
    // time otherwise.
    isolate: mode === 'soak',
    // Node imports the files itself: Vite would turn each use of an import into a property look-up, also inside loops.
    experimental: { viteModuleRunner: false },
    // The embedded engine needs a moment to start, and a long time on a machine that runs several files at once.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 120_000,
    // On a quiet machine, polled conditions hold at once. No test depends on how long a busy machine takes.
    expect: { poll: { timeout: 90_000, interval: 20 } },
    // Most objects of a test die with it, which they do before a collection when the young generation is larger than the
    // default.
    execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64'],
    // One more than the number of cores, because files wait for timers, processes and Postgres.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: ProcessesFirst },
    reporters: ['default', new ClosingLine()],
  },
}));
