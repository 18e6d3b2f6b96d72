import type { JsonObject } from '../lib/json.ts';
import { openDirectory } from './directory.ts';
import type { NamedSource } from './names.ts';
import type { Origin } from './origin.ts';
import { plainTiming } from './schedule.ts';

/** A source that this server may run. */
export interface SourceDefinition {
  readonly account: string;
  readonly name: string;
  readonly type: string;
  /** What is recorded of it: its settings, and where it comes from. */
  readonly spec: JsonObject;
  /** Whether this server's configuration says so, and not what is recorded. */
  readonly isConfigured: boolean;
  readonly intervalMs: number;
  /** How long the first reconcile waits, so that many sources do not begin together. */
  readonly delayMs: number;
  /** Opens what it reads. */
  open(onError: (error: unknown) => void): Origin;
}

/** A directory of this server, with nothing special about it. */
export function defineDirectory(account: string, { name, path }: NamedSource): SourceDefinition {
  return {
    account,
    name,
    type: 'directory',
    spec: { path },
    isConfigured: true,
    intervalMs: plainTiming.intervalMs,
    delayMs: 0,
    open: (onError) => openDirectory({ path, onError }),
  };
}
