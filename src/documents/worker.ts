import { parentPort } from 'node:worker_threads';
import { readFile } from './read.ts';

// The thread that parses for `createParser`. The result travels as JSON text: for 10,000 documents (2.9 MB) that takes
// TRANSFER.
parentPort?.on('message', (text: string) => {
  parentPort?.postMessage(JSON.stringify(readFile({ path: '', text })));
});
parentPort?.postMessage('ready');
