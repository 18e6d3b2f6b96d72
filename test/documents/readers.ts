import { afterEach } from 'vitest';
import { createReader, type Reader, type ReaderOptions } from '../../src/documents/reader.ts';

/** Returns a function that opens a reader, which is closed after the test. */
export function openReaders(): (options?: ReaderOptions) => Reader {
  let opened: Reader[] = [];
  afterEach(async () => {
    await Promise.all(opened.map((reader) => reader.close()));
    opened = [];
  });
  return (options) => {
    const reader = createReader(options);
    opened.push(reader);
    return reader;
  };
}

/** Returns a file of this text, as a reader takes it. */
export function file(path: string, text: string) {
  return { path, text };
}
