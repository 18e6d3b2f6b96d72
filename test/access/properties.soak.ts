import { vi } from 'vitest';

/** Runs the property tests of access with 20 times as many random accounts. */
process.env['HEDDLE_TEST_RUNS'] = '20';
vi.setConfig({ testTimeout: 3_600_000 });

await import('./properties.large.ts');
