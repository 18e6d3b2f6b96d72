import { request } from 'node:http';
import type { Gauge } from './gauge.ts';

export type { Gauge } from './gauge.ts';

/** What a server says of itself since it was asked last. */
export function readGauge(socketPath: string): Promise<Gauge> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/' }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      // As `gauge.ts` wrote it.
      response.on('end', () => resolve(JSON.parse(text) as Gauge));
    });
    asked.on('error', reject);
    asked.end();
  });
}
