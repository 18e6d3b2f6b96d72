import { afterAll } from 'vitest';
import { endFile } from './database.ts';

// Runs with every file: what it has used is given back or removed.
// biome-ignore lint/correctness/noEmptyPattern: vitest wants the first argument destructured, and we need the second.
afterAll(async ({}, file) => {
  await endFile(file);
});
