import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type pg from 'pg';
import {
  answerChallenge,
  type MachineKeys,
  makeMachineKeys,
  proofFor,
  tunnelKeyOf,
} from '../../src/features/peers/enrolment/client.ts';
import { exchange } from './sockets.ts';

/** A machine that will enrol as a peer. */
export interface Machine {
  readonly keys: MachineKeys;
  readonly hostname: string;
}

/** Creates machines with their own keys and unique names. */
export function prepareMachines(count: number): Machine[] {
  const run = randomBytes(4).toString('hex');
  return Array.from({ length: count }, (_, at) => ({ keys: makeMachineKeys(), hostname: `machine-${run}-${at}` }));
}

const facts = {
  ...{ system: 'linux', system_version: '13', kernel_version: '6.12.9', version: '1.4.2' },
  network_addresses: [{ net_ip: '10.0.0.7/24', mac: '02:42:0a:14:00:07' }],
};

/** Enrols a machine as a peer: requests a challenge, answers it, and signs the request. Returns the answer. */
export async function enrolMachine(socket: Socket, { keys, hostname }: Machine, setupKey: string): Promise<string> {
  const challenge = JSON.parse(await exchange(socket, post('/agent/challenge')));
  const body = JSON.stringify({
    ...{ setup_key: setupKey, hostname, facts, extra_dns_labels: ['build'] },
    ...{ wg_pub_key: tunnelKeyOf(keys), tunnel_proof: answerChallenge(keys, challenge) },
  });
  const path = '/agent/enrol';
  return exchange(socket, post(path, body, proofFor(keys, { method: 'POST', path, body })));
}

function post(path: string, body = '', proof = ''): string {
  const type = body === '' ? '' : `content-type: application/json\r\nheddle-proof: ${proof}\r\n`;
  return `POST ${path} HTTP/1.1\r\nhost: bench\r\n${type}content-length: ${body.length}\r\n\r\n${body}`;
}

const spec = { hostname: 'machine', dns_label: 'machine', ip: '100.72.0.12', ipv6: 'fd00::c', ssh_enabled: false };
const keyRules = ['ip', 'ipv6', 'wg_pub_key', 'signing_key', 'dns_label', 'key'];

/** Statements that write the rows of one enrolment, one for each table, without checks and locks. */
const statements: readonly (readonly [name: string, text: string, values: (id: string, own: number) => unknown[]])[] = [
  [
    'nonce',
    `insert into agent_nonces (account_id, nonce, expires_at) values ('bare', $1, now() + interval '2 minutes')`,
    (id) => [id],
  ],
  [
    'peer',
    `insert into objects (account_id, id, kind, key, name, spec, derived, created_revision, updated_revision, created_at, updated_at)
      values ('bare', $1, 'Peer', $1, $1, $2, $3, 1, 1, now(), now())`,
    (id) => [id, JSON.stringify(spec), JSON.stringify({ enrolled_by: 'setup_key', setup_key: 'bare-key' })],
  ],
  [
    'keys',
    `insert into object_keys (account_id, kind, rule, value, object_id)
      select 'bare', 'Peer', rule, $1, $1 from unnest($2::text[]) as rule`,
    (id) => [id, keyRules],
  ],
  [
    'member',
    `insert into object_refs (account_id, from_id, field, to_id, origin) values ('bare', $1, 'peers', $1, 'enrolment')`,
    (id) => [id],
  ],
  [
    'entry',
    `insert into directory (account_id, kind, value, subject_id) values ('bare', 'peer-key', $1, $1)`,
    (id) => [id],
  ],
  [
    'revision',
    `insert into revisions (account_id, revision, created_at, actor, request_id)
      values ('bare', $1, now(), '{"type":"system"}', $2)`,
    (id, own) => [own, id],
  ],
  [
    'changes',
    `insert into changes (account_id, revision, seq, action, kind, object_id, units, image)
      select 'bare', $1, seq, 'update', 'Peer', $2, $3, $3 from generate_series(0, 2) as seq`,
    (id, own) => [own, id, JSON.stringify(spec)],
  ],
  [
    'event',
    `insert into audit_events (account_id, id, activity_code, initiator_id, target_id, meta, created_at)
      values ('bare', $1, 'peer.setupkey.add', 'bench', $2, $3, now())`,
    (id, own) => [own, id, JSON.stringify(spec)],
  ],
  [
    'status',
    `insert into peer_status (account_id, peer_id, last_seen, facts) values ('bare', $1, now(), $2)`,
    (id) => [id, JSON.stringify(facts)],
  ],
];

/** Writes the rows of one enrolment in one bare transaction. */
export async function enrolBare(client: pg.Client, own: number): Promise<void> {
  const id = `bare-${own}`;
  await client.query('begin');
  for (const [name, text, values] of statements) await client.query({ name, text, values: values(id, own) });
  await client.query('commit');
}
