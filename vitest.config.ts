import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/setup/reporter.ts';
import { ProcessesFirst } from './test/setup/sequencer.ts';

/**
 * `--mode system` runs the tests that start programs (`*.system.ts`) in place of the others, `--mode soak` the long loops
 * (`*.soak.ts`), `--mode kubernetes` those that need an API server of
 * Kubernetes (`*.kube.ts`), `--mode release` those of what is published
 * (`*.release.ts`), clients generated from its description included; `--mode pure` starts no database.
 */
const suffixes: Readonly<Record<string, string>> = {
  ...{ system: 'system', soak: 'soak', kubernetes: 'kube', release: 'release' },
};
const withoutDatabase = ['pure'];
const withoutPrograms = ['test', 'pure'];

export default defineConfig(({ mode }) => ({
  test: {
    include: [`test/**/*.${suffixes[mode] ?? 'test'}.ts`],
    globalSetup: [
      ...(withoutDatabase.includes(mode) ? [] : ['test/setup/postgres.ts']),
      ...(withoutPrograms.includes(mode) ? [] : ['test/setup/program.ts']),
      ...(mode === 'kubernetes' ? ['test/kubernetes/setup.ts'] : []),
    ],
    setupFiles: withoutDatabase.includes(mode) ? [] : ['test/setup/each-file.ts'],
    // Files of a worker share what they import and the databases they have done with: a third of the time went into both.
    isolate: mode === 'soak',
    // Node imports the files itself: Vite would rewrite each import into a look-up, in every loop that uses one.
    experimental: { viteModuleRunner: false },
    // The embedded engine needs a moment to start, and a machine that runs several files at once a long one.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 120_000,
    // What is waited for comes at once on a quiet machine; how long a busy one takes is nothing that a test says.
    expect: { poll: { timeout: 90_000, interval: 20 } },
    // One more than cores: files wait for what they time, for processes and for Postgres.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: ProcessesFirst },
    reporters: ['default', new ClosingLine()],
  },
}));
