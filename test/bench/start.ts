import { fileURLToPath } from 'node:url';
import { generateFiles, writeFiles } from '../setup/generate.ts';
import type { Benchmark, Row } from './result.ts';
import { serve } from './served.ts';
import { median } from './timing.ts';

const quickstart = fileURLToPath(new URL('../../examples/quickstart', import.meta.url));

/** Time from the start of the process until the server answers, on an embedded database that already has its data. */
export const start: Benchmark = {
  name: 'start',
  async run(stand) {
    const large = await stand.directory();
    await writeFiles(large, generateFiles(10_000));
    const small = await startAgain(await stand.directory(), quickstart);
    return [
      { ...row('start to ready, embedded, quickstart', small), budget: { is: 'at most', value: 3000 } },
      row('start to ready, embedded, 10,000 documents', await startAgain(await stand.directory(), large)),
    ];
  },
};

function row(what: string, figure: number): Row {
  return { what, figure, unit: 'ms' };
}

async function startAgain(dataDir: string, source: string): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const begun = performance.now();
    await using server = await serve({ dataDir, source });
    // `serve` returns on a log line that the server writes after it has started to listen.
    if (round > 0) taken.push(performance.now() - begun);
    await server.line(/\d+ documents, /);
    await server.stop();
  }
  return median(taken);
}
