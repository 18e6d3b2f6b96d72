import { readInput } from '../../src/documents/input.ts';
import { createReader } from '../../src/documents/reader.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { generateFiles } from '../setup/generate.ts';
import type { Benchmark, Row } from './result.ts';
import { openWorkplace } from './stand.ts';
import { tapWire } from './wire.ts';

/** Statements that every transaction of a commit contains in addition to its own statement. */
const frame = /^(begin|commit)\b|set_config\('role'/i;

/** Number of SQL statements of a commit, counted on the wire, for 100 and for 10,000 objects. */
export const statements: Benchmark = {
  name: 'statements',
  async run(stand) {
    const rows: Row[] = [];
    for (const documents of [100, 10_000]) {
      await using wire = await tapWire(await stand.postgres());
      await using workplace = await openWorkplace({ url: wire.url });
      const { engine, account } = workplace;
      const reader = createReader();
      const input = await readInput(reader, generateFiles(documents));
      await reader.close();
      await engine.snapshots.current(account);
      wire.take();
      const call = { account, actor: { type: 'source', id: 'bench', name: 'bench' }, revision: 0 } as const;
      await applyDocuments(engine, call, { source: 'bench', ...input, prune: true, allowEmpty: false });
      const figure = wire.take().filter((text) => !frame.test(text)).length;
      const what = `SQL statements of a commit of ${documents.toLocaleString('en')} objects`;
      rows.push({ what, figure, unit: '', budget: { is: 'at most', value: 1 } });
    }
    return rows;
  },
};
