import { generateFiles } from '../../setup/generate.ts';
import { type Bulk, openBulkStand } from './stand.ts';

/** Limits for the processor time of one turn of the event loop. */
export interface BulkLimits {
  /** Largest share of the processor time of a request. Turns usually take 12 ms, whatever the size of the request. */
  readonly share: number;
  /** Turns up to this length are always accepted, because no client notices them. In milliseconds of processor time. */
  readonly floor: number;
}

/**
 * Plans, shows, applies, lists and exports `documents` documents. Returns a description of each request that delayed
 * other requests beyond the limits.
 */
export async function runInBulk(documents: number, limits: BulkLimits): Promise<readonly string[]> {
  await using stand = await openBulkStand();
  const files = generateFiles(documents);
  const found: string[] = [];
  const run = async (name: string, method: string, path: string, body?: object): Promise<string> => {
    const bulk = await stand.send(method, path, body);
    found.push(...faultsOf(name, bulk, limits));
    return bulk.text;
  };
  // Warms up the server: compiling the code for the first requests takes time that does not depend on the number of
  // documents.
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
  // Each client sends its next request right after an answer, so fewer answers than turns mean that a client was not
  // served.
  const turns = gauge.busy / most;
  return gauge.busiest > most || health.length < Math.min(turns, 20) || reads.length === 0
    ? [`${name}: ${figures}`]
    : [];
}
