import type { Database } from '../db/database.ts';
import { tracedDatabase } from '../db/traced.ts';
import type { Log } from '../log.ts';
import type { Telemetry } from '../telemetry/otel.ts';
import { programVersion } from '../version.ts';
import type { ServeOptions } from './serve-options.ts';

/**
 * Starts the export of spans and metrics. Returns `undefined`, without loading any of its code, when no export is
 * configured.
 */
export async function openTelemetry({ otel }: Pick<ServeOptions, 'otel'>, log: Log): Promise<Telemetry | undefined> {
  if (otel === undefined) return undefined;
  const { startTelemetry } = await import('../telemetry/otel.ts');
  const report = (level: 'info' | 'warn', message: string) => log({ level, message });
  return await startTelemetry({ settings: otel, version: programVersion(), report });
}

/** Returns the database, wrapped so that each transaction records a span if spans are exported. */
export function tracedBy(telemetry: Telemetry | undefined, database: Database): Database {
  return telemetry?.tracer === undefined ? database : tracedDatabase(database);
}
