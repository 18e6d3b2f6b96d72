import { afterAll } from 'vitest';
import { endFile } from './database.ts';

// Node runs the files themselves, so their positions are right without source maps, which vitest switches on. Node would
// search every function that a library generates for the comment of one.
process.setSourceMapsEnabled(false);

// Runs with every file: what it has used is given back or removed.
// biome-ignore lint/correctness/noEmptyPattern: vitest wants the first argument destructured, and we need the second.
afterAll(async ({}, file) => {
  await endFile(file);
});
