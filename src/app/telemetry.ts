import type { Database } from '../db/database.ts';
import { tracedDatabase } from '../db/traced.ts';
import type { Log } from '../log.ts';
import type { Telemetry } from '../telemetry/otel.ts';
import { programVersion } from '../version.ts';
import type { ServeOptions } from './serve-options.ts';

/** Starts to export spans and metrics, if that is asked for; nothing of it is loaded otherwise. */
export async function openTelemetry({ otel }: Pick<ServeOptions, 'otel'>, log: Log): Promise<Telemetry | undefined> {
  if (otel === undefined) return undefined;
  const { startTelemetry } = await import('../telemetry/otel.ts');
  const report = (level: 'info' | 'warn', message: string) => log({ level, message });
  return await startTelemetry({ settings: otel, version: programVersion(), report });
}

/** The database, with a span for each of its transactions if they are asked for. */
export function tracedBy(telemetry: Telemetry | undefined, database: Database): Database {
  return telemetry?.tracer === undefined ? database : tracedDatabase(database);
}
