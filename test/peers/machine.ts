import {
  answerChallenge,
  type MachineKeys,
  makeMachineKeys,
  proofFor,
  tunnelKeyOf,
} from '../../src/features/peers/enrolment/client.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { Answer, TestApi } from '../api/setup.ts';

/** A machine that talks to a test server. */
export interface Machine {
  readonly keys: MachineKeys;
  /** Sends a request with a proof of this moment, or with another one. */
  send(path: string, body: Json, headers?: Readonly<Record<string, string>>, at?: At): Promise<Answer>;
  /** Answers a challenge and asks to be let in. */
  enrol(asked: JsonObject, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

type At = NonNullable<Parameters<typeof proofFor>[2]>;

/** What the machine sends where others send their token. */
const anonymous = { authorization: '' };

/** Makes a machine with keys of its own. */
export function newMachine({ call }: Pick<TestApi, 'call'>, keys: MachineKeys = makeMachineKeys()): Machine {
  const send: Machine['send'] = (path, body, headers = anonymous, at = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const proof = proofFor(keys, { method: 'POST', path, body: text }, at);
    return call('POST', path, text, { 'heddle-proof': proof, ...headers });
  };
  return {
    keys,
    send,
    async enrol(asked, headers = anonymous) {
      const challenge = (await call('POST', '/agent/challenge')).body;
      const body = {
        hostname: 'machine',
        wg_pub_key: tunnelKeyOf(keys),
        tunnel_proof: answerChallenge(keys, challenge),
      };
      return send('/agent/enrol', { ...body, ...asked }, headers);
    },
  };
}

/** The value of a new setup key. */
export async function setupKey({ call }: Pick<TestApi, 'call'>, change: JsonObject = {}): Promise<JsonObject> {
  const body = { name: 'key', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0, ...change };
  const answer = await call('POST', '/api/setup-keys', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}
