import type { Engine } from '../../commit/engine.ts';
import { writeServiceStatus } from '../../db/proxy/proxies.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { serviceStatuses } from '../../model/declare/service-words.ts';
import { createMemberReader } from '../logs/member-reader.ts';
import type { AuthenticatedProxy } from './registration.ts';
import { servedServiceIds } from './services.ts';

/** A refused item of a report: its index, and the reason. */
export interface RefusedItem {
  readonly index: number;
  readonly reason: string;
}

/**
 * Stores the status that a proxy reports for services of its cluster, without a revision. Returns the refused items.
 */
export async function reportServices(
  engine: Engine,
  proxy: AuthenticatedProxy,
  listed: readonly Json[],
): Promise<readonly RefusedItem[]> {
  const state = await engine.snapshots.fresh(proxy.account);
  const served = await servedServiceIds(engine, state, proxy.cluster);
  const refused: RefusedItem[] = [];
  const kept = new Map<
    string,
    { readonly service_id: string; readonly status: string; certificate_issued_at?: string }
  >();
  for (const [index, item] of listed.entries()) {
    const read = createMemberReader(item);
    const id = read.requiredText('service_id', 64);
    const status = read.oneOf('status', serviceStatuses);
    const isIssued = (item as JsonObject | null)?.['certificate_issued_at'] !== undefined;
    const issued = isIssued ? read.time('certificate_issued_at') : undefined;
    if (read.faults.length === 0 && !served.has(id)) read.addFault(`service ${id} does not belong to this cluster`);
    if (read.faults.length > 0) refused.push({ index, reason: read.faults.join('; ') });
    else
      kept.set(id, {
        ...{ service_id: id, status },
        ...(issued === undefined ? {} : { certificate_issued_at: new Date(issued).toISOString() }),
      });
  }
  if (kept.size > 0) await writeServiceStatus(engine.database, proxy.account, proxy.id, [...kept.values()]);
  return refused;
}
