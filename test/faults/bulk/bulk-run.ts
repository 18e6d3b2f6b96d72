import { generateFiles } from '../../setup/generate.ts';
import { type Bulk, openBulkStand } from './stand.ts';

/** How much of something may be done in one turn of the event loop. */
export interface BulkLimits {
  /** Of the processor time of a request; turns are 12 ms long as a rule, whatever the size. */
  readonly share: number;
  /** Shorter turns are nothing that anybody notices, in milliseconds of processor time. */
  readonly floor: number;
}

/** Plans, shows, applies, lists and exports so many documents; answers where others were held up beyond the limits. */
export async function runInBulk(documents: number, limits: BulkLimits): Promise<readonly string[]> {
  await using stand = await openBulkStand();
  const files = generateFiles(documents);
  const found: string[] = [];
  const run = async (name: string, method: string, path: string, body?: object): Promise<string> => {
    const bulk = await stand.send(method, path, body);
    found.push(...faultsOf(name, bulk, limits));
    return bulk.text;
  };
  // What the first requests compile is nothing that grows.
  await stand.send('POST', '/api/config/plans', { source: 'first', files: generateFiles(300) });
  const plan = JSON.parse(await run('plan', 'POST', '/api/config/plans', { source: 'bulk', files }));
  await run('plan shown', 'GET', `/api/config/plans/${plan.id}`);
  await run('plan as patches', 'GET', `/api/config/plans/${plan.id}/patch`);
  await run('apply', 'POST', `/api/config/plans/${plan.id}/apply`, { approve: plan.digest });
  await run('apply of the same', 'POST', '/api/config/apply', { source: 'bulk', files });
  await run('list', 'GET', '/api/policies');
  await run('export as YAML', 'GET', '/api/config/export');
  await run('export as JSON', 'GET', '/api/config/export?format=json');
  return found;
}

function faultsOf(name: string, { status, gauge, health, reads, text }: Bulk, { share, floor }: BulkLimits) {
  if (status >= 300) return [`${name}: answered with ${status}: ${text.slice(0, 300)}`];
  const most = Math.max(floor, share * gauge.busy);
  const figures = `one turn of the event loop took ${Math.round(gauge.busiest)} of ${Math.round(gauge.busy)} ms of processor time, ${health.length} questions after health and ${reads.length} reads of another account were answered meanwhile`;
  // Each of them asks again at once: fewer answers than turns mean that somebody was forgotten.
  const turns = gauge.busy / most;
  return gauge.busiest > most || health.length < Math.min(turns, 20) || reads.length === 0
    ? [`${name}: ${figures}`]
    : [];
}
