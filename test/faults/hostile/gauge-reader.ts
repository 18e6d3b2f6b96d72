import { request } from 'node:http';
import type { Gauge } from './gauge.ts';

export type { Gauge } from './gauge.ts';

/** Reads the resources that a server used since the previous query. */
export function readGauge(socketPath: string): Promise<Gauge> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/' }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      // `gauge.ts` wrote the text.
      response.on('end', () => resolve(JSON.parse(text) as Gauge));
    });
    asked.on('error', reject);
    asked.end();
  });
}
