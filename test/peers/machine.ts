import {
  answerChallenge,
  type MachineKeys,
  makeMachineKeys,
  proofFor,
  tunnelKeyOf,
} from '../../src/features/peers/enrolment/client.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import type { Answer, TestApi } from '../api/setup.ts';

/** A machine that sends requests to a test server. */
export interface Machine {
  readonly keys: MachineKeys;
  /** Sends a request with a proof for the current time, or for the values in `at`. */
  send(path: string, body: Json, headers?: Readonly<Record<string, string>>, at?: At): Promise<Answer>;
  /** Answers a challenge and requests enrolment. */
  enrol(asked: JsonObject, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

type At = NonNullable<Parameters<typeof proofFor>[2]>;

/** Headers that replace the default token of the test API by none: the machine sends only its proof. */
const anonymous = { authorization: '' };

/** Creates a machine with new keys, or with the given keys. */
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

/** Creates a setup key, and returns the response, which includes its value. */
export async function setupKey({ call }: Pick<TestApi, 'call'>, change: JsonObject = {}): Promise<JsonObject> {
  const body = { name: 'key', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0, ...change };
  const answer = await call('POST', '/api/setup-keys', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}
