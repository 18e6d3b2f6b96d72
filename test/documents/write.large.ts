import { test } from 'vitest';
import { writeAndRead } from './written.ts';

test('written documents are read back to the same values, and written again to the same text', () => {
  writeAndRead(1000);
});
