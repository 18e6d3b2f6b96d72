import { vi } from 'vitest';

/** Runs the property tests of access with 20 times as many random accounts. */
process.env['HEDDLE_TEST_RUNS'] = '20';
vi.setConfig({ testTimeout: 3_600_000 });

await import('./access.test.ts');
await import('./diff.test.ts');
await import('./map.test.ts');
await import('./questions.test.ts');
await import('./reach.test.ts');
