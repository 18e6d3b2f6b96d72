import { expect } from 'vitest';
import { makeMachineKeys } from '../../src/features/peers/enrolment/client.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { type Answer, operatorToken } from '../api/setup.ts';
import { callerOf } from '../faults/enrolling.ts';
import { token } from '../faults/replicas.ts';
import { newMachine, setupKey } from '../peers/machine.ts';
import { emptyDatabase, temporaryDirectory } from '../setup/database.ts';
import { type Program, type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

/** Secret key shared by all servers of the installation. */
const secretKey = new Uint8Array(32).fill(5);

type Headers = Readonly<Record<string, string>>;

/** A server of one release, with functions that send requests to it. */
export interface Release extends AsyncDisposable {
  readonly server: ServedHeddle;
  /** Sends a request as the owner. Throws unless the status is 200. */
  ask(method: string, path: string, body?: Json, headers?: Headers): Promise<Answer['body']>;
  /** Sends a request and returns the answer, whatever its status. */
  readonly call: ReturnType<typeof callerOf>;
}

/** The database of an installation that is updated, with a function that starts servers on it. */
export interface Installation {
  readonly url: string;
  /** Starts a server. Without `program`, it is the server of this checkout. */
  start(program?: Program): Promise<Release>;
}

/** Prepares an installation with an empty database. */
export async function openInstallation(): Promise<Installation> {
  const [url, dataDir] = [await emptyDatabase(), await temporaryDirectory()];
  const env = {
    HEDDLE_BOOTSTRAP_TOKEN: token,
    HEDDLE_SECRET_KEY: Buffer.from(secretKey).toString('base64'),
  };
  return {
    url,
    async start(program) {
      const flags = ['--database-url', url, '--data-dir', dataDir];
      // The previous release has no operator.
      const own = { ...env, HEDDLE_OPERATOR_TOKEN: operatorToken };
      return releaseOf(await serveHeddle(flags, program === undefined ? { env: own } : { env, program }));
    },
  };
}

function releaseOf(server: ServedHeddle): Release {
  const call = callerOf(server);
  return {
    server,
    call,
    async ask(method, path, body, headers) {
      const answer = await call(method, path, body, headers);
      expect([method, path, answer.status, answer.body]).toEqual([method, path, 200, answer.body]);
      return answer.body;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/**
 * Enrols a machine at the server `door` with a setup key that the server `maker` created. Returns the id of its peer.
 */
export async function enrolAcross(maker: Release, door: Release, hostname: string): Promise<string> {
  const { key } = await setupKey(maker, { name: `for ${hostname}` });
  const machine = newMachine(door, makeMachineKeys());
  const { status, body } = await machine.enrol({ setup_key: String(key), hostname });
  expect([status, body.message]).toEqual([200, undefined]);
  // A session that one server created is valid on every other server.
  const headers = { authorization: `Peer ${body.session.token}` };
  const facts = await machine.send('/agent/facts', { system: 'linux' }, headers);
  const elsewhere = newMachine(maker, machine.keys);
  const again = await elsewhere.send('/agent/facts', { system: 'linux' }, headers);
  expect([facts.status, again.status]).toEqual([200, 200]);
  return String(body.peer.id);
}

/** Returns the ids of objects or summaries, sorted. */
export function idsOf(shown: readonly { readonly id: string }[] | null): readonly string[] {
  return (shown ?? []).map(({ id }) => id).sort();
}

/** URL that the webhooks send to. */
export const hookAddress = 'https://hooks.example.com/mesh/let-me-in';

/** Returns a webhook with a secret in a header. */
export function channel(secret: string, more: JsonObject = {}): JsonObject {
  const target = { url: hookAddress, headers: { 'X-Key': secret } };
  return { type: 'webhook', event_types: ['user.join'], enabled: true, target, ...more };
}
