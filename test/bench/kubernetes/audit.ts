import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { asObjectOrEmpty, type Json, parseJson } from '../../../src/lib/json.ts';

/** A write to resources of Heddle or to events, as the API server recorded it. */
export interface Write {
  readonly resource: string;
  readonly isStatus: boolean;
  /** In milliseconds since 1970. */
  readonly receivedAt: number;
  readonly answeredAt: number;
}

/** Audit log of an API server, which records writes. */
export interface Audit {
  /** Flags of the API server that enable the audit log. */
  readonly flags: readonly string[];
  writes(): Promise<readonly Write[]>;
  /** Resolves when nothing has been written for some seconds. */
  quiet(): Promise<void>;
}

const quietMs = 5000;

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    {
      level: 'Metadata',
      verbs: ['create', 'update', 'patch', 'delete'],
      resources: [{ group: 'heddle.dev' }, { group: '', resources: ['events'] }],
    },
  ],
};

/** Prepares the policy and the file of an audit log in a directory. */
export async function prepareAudit(directory: string): Promise<Audit> {
  const [policyFile, log] = [join(directory, 'audit-policy.json'), join(directory, 'audit.log')];
  await writeFile(policyFile, JSON.stringify(policy));
  await writeFile(log, '');
  return {
    flags: [`--audit-policy-file=${policyFile}`, `--audit-log-path=${log}`],
    async writes() {
      const lines = (await readFile(log, 'utf8')).trim().split('\n');
      return lines.filter((line) => line !== '').map((line) => readWrite(parseJson(line)));
    },
    async quiet() {
      for (let [before, now] = [-1, 0]; before !== now; ) {
        await delay(quietMs);
        [before, now] = [now, (await stat(log)).size];
      }
    },
  };
}

function readWrite(line: Json): Write {
  const { objectRef, requestReceivedTimestamp, stageTimestamp } = asObjectOrEmpty(line);
  const { resource, subresource } = asObjectOrEmpty(objectRef);
  return {
    resource: String(resource),
    isStatus: subresource === 'status',
    receivedAt: Date.parse(String(requestReceivedTimestamp)),
    answeredAt: Date.parse(String(stageTimestamp)),
  };
}

/** Returns the maximum number of writes that were in progress at the same time. */
export function mostAtOnce(writes: readonly Write[]): number {
  // At the same millisecond, the answer is counted before the request, because the request may have waited for it.
  const steps = writes
    .flatMap(({ receivedAt, answeredAt }) => [
      { at: receivedAt, by: 1 },
      { at: answeredAt, by: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let [now, most] = [0, 0];
  for (const { by } of steps) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** Returns the maximum number of writes that arrived within one second. */
export function mostInOneSecond(writes: readonly Write[]): number {
  const times = writes.map(({ receivedAt }) => receivedAt).sort((a, b) => a - b);
  let [first, most] = [0, 0];
  for (const [last, at] of times.entries()) {
    while ((times[first] ?? at) <= at - 1000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/**
 * Returns the number of writes per second between the first and the last write. The `atOnce` writes that may arrive at
 * once are not counted.
 */
export function steadyRate(writes: readonly Write[], atOnce: number): number {
  const times = writes.map(({ receivedAt }) => receivedAt);
  const seconds = (times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b))) / 1000;
  return Math.round(((writes.length - atOnce) / seconds) * 10) / 10;
}
