import { expect } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { type MachineKeys, makeMachineKeys, tunnelKeyOf } from '../../src/features/peers/enrolment/client.ts';
import type { Answer, Call } from '../api/setup.ts';
import { newMachine, setupKey } from '../peers/machine.ts';
import type { ServedHeddle } from '../setup/heddle.ts';
import { type Replicas, token } from './replicas.ts';

/**
 * Returns a function that sends requests to a server in a separate process, as the owner unless the headers say
 * otherwise.
 */
export function callerOf(server: Pick<ServedHeddle, 'url'>): Call {
  return async (method, path, body, headers = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { authorization = `Token ${token}`, ...others } = headers;
    const response = await fetch(server.url + path, {
      method,
      headers: {
        ...(authorization === '' ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...others,
      },
      ...(body === undefined ? {} : { body: text }),
    });
    const reported = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: isJson ? JSON.parse(reported) : reported,
    };
  };
}

/** Creates a setup key that `usage_limit` machines may use. 0: no limit. */
export async function makeKey(
  server: ServedHeddle,
  usage_limit: number,
): Promise<{ readonly id: string; readonly key: string }> {
  const made = await setupKey({ call: callerOf(server) }, { usage_limit });
  return { id: String(made['id']), key: String(made['key']) };
}

/** Enrols a machine at a server. Throws when no answer arrives. */
export function enrolAt(server: ServedHeddle, keys: MachineKeys, setup_key: string): Promise<Answer> {
  return newMachine({ call: callerOf(server) }, keys).enrol({ setup_key });
}

/** Peers and key uses at the end, read from the database itself. */
export interface Enrolled {
  readonly peers: readonly string[];
  readonly used: number;
}

/** Reads the peers and the uses of the only setup key. Expects that no two peers share a value that must be unique. */
export async function readEnrolled(replicas: Replicas): Promise<Enrolled> {
  const database = await openDatabase({ url: replicas.url });
  try {
    const rows = await database.lookUp(
      statement<{ readonly id: string; readonly ip: string; readonly label: string; readonly key: string }>(
        `select id, spec ->> 'ip' as ip, spec ->> 'dns_label' as label, spec ->> 'wg_pub_key' as key from objects where kind = 'Peer'`,
        [],
      ),
    );
    for (const member of ['ip', 'label', 'key'] as const)
      expect([member, new Set(rows.map((row) => row[member])).size]).toEqual([member, rows.length]);
    const [counted] = await database.lookUp(
      statement<{ readonly used: number; readonly statuses: number; readonly gap: number }>(
        `select (select (derived ->> 'used_times')::int from objects where kind = 'SetupKey') as used,
          (select count(*) from peer_status)::int as statuses,
          (select max(revision) - count(*) from revisions)::int as gap`,
        [],
      ),
    );
    expect(counted).toEqual({ used: rows.length, statuses: rows.length, gap: 0 });
    return { peers: rows.map(({ id }) => id), used: counted?.used ?? 0 };
  } finally {
    await database.close();
  }
}

/** Result of enrolments during which one of two servers was killed. */
export interface Crowd {
  /** Peers whose machine got a confirmation. */
  readonly acknowledged: readonly string[];
  readonly faults: readonly string[];
}

/**
 * Enrols machines at two servers in turns, and kills the second server after `killAfter` confirmations. A machine
 * without an answer asks the first server, which enrols it, or logs it in when it is enrolled already.
 */
export async function enrolWhileKilling(
  replicas: Replicas,
  { machines, clients, killAfter }: { readonly machines: number; readonly clients: number; readonly killAfter: number },
): Promise<Crowd> {
  const [steady, shaken] = await Promise.all([replicas.start(), replicas.start()]);
  const { key } = await makeKey(steady, 0);
  const waiting = Array.from({ length: machines }, () => makeMachineKeys());
  const acknowledged: string[] = [];
  const faults: string[] = [];
  let killing: Promise<unknown> | undefined;
  const letIn = async (keys: MachineKeys, server: ServedHeddle): Promise<void> => {
    const answer = await enrolAt(server, keys, key).catch((error: unknown) => {
      if (server === steady || killing === undefined) faults.push(`no answer of a server that was up: ${error}`);
    });
    const isIn = answer?.status === 200;
    const reported = isIn ? answer : await enrolAgain(keys);
    if (reported.status === 200) acknowledged.push(reported.body.peer.id);
    else faults.push(`${reported.status} ${JSON.stringify(reported.body)}`);
    if (acknowledged.length >= killAfter) killing ??= shaken.stop('SIGKILL');
  };
  const enrolAgain = async (keys: MachineKeys): Promise<Answer> => {
    const again = await enrolAt(steady, keys, key);
    if (again.status !== 409) return again;
    return newMachine({ call: callerOf(steady) }, keys).send('/agent/login', { wg_pub_key: tunnelKeyOf(keys) });
  };
  const client = async (number: number): Promise<void> => {
    for (let keys = waiting.pop(), turn = number; keys !== undefined; keys = waiting.pop(), turn += 1)
      await letIn(keys, turn % 2 === 0 || killing !== undefined ? steady : shaken);
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  await killing;
  return { acknowledged, faults };
}
