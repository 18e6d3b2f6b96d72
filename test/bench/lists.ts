import { Agent, get } from 'node:http';
import { generateGroups, writeFiles } from '../setup/generate.ts';
import type { Benchmark, Row } from './result.ts';
import { request, serve, token } from './served.ts';
import { inTurns, time } from './timing.ts';

/** A list of 10,000 objects, first after a change and again, against `JSON.stringify` of the same payload. */
export const lists: Benchmark = {
  name: 'lists',
  async run(stand) {
    const source = await stand.directory();
    await writeFiles(source, [generateGroups(10_000)]);
    await using server = await serve({ url: await stand.postgres(), dataDir: await stand.directory(), source });
    await server.line(/10000 documents, revision/);
    const list = () => request(server, 'GET', '/api/groups');
    const payload = await list();
    const reference = async () => time(() => JSON.stringify(payload));
    let changes = 0;
    const change = () => request(server, 'POST', '/api/groups', { name: `Change ${++changes}` });
    const rows: Row[] = [];
    for (const when of ['first after a change', 'repeated']) {
      const figure = async () => {
        if (when !== 'repeated') await change();
        return answer(`${server.url}/api/groups`);
      };
      const measured = await inTurns(20, figure, reference);
      const what = `list of 10,000 groups over HTTP, ${when}`;
      rows.push({ what, ...measured, unit: 'ms', budget: { is: 'at most', value: 2 } });
    }
    return rows;
  },
};

const agent = new Agent({ keepAlive: true });

/** How long until the whole answer is there; it is not looked into. */
function answer(url: string): Promise<number> {
  return time(
    () =>
      new Promise((resolve, reject) => {
        get(url, { agent, headers: { authorization: `Token ${token}` } }, (response) => {
          response.resume().once('end', resolve).once('error', reject);
        }).once('error', reject);
      }),
  );
}
