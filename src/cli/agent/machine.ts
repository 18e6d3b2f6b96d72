import type { JsonObject } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';
import { answerTo, makeMachineKeys, proofFor, tunnelKeyOf } from '../../peering/client.ts';
import { type EdgeMessage, messagesOf, objectIn } from '../proxy/edge.ts';
import { programVersion } from '../version.ts';

/** A machine as its server sees it. */
export interface Machine {
  readonly name: string;
  /** Becomes a peer. Refusals are exceptions. */
  enrol(setupKey: string): Promise<{ readonly address: string; readonly label: string }>;
  /** Connects, and tells what comes, until the stream ends. */
  follow(signal: AbortSignal): AsyncGenerator<EdgeMessage>;
}

/** Makes a machine with keys of its own. */
export function createMachine(server: string, name: string): Machine {
  const keys = makeMachineKeys();
  let session = '';
  let last = '';
  const ask = async (path: string, request: RequestInit): Promise<Response> => {
    try {
      return await fetch(`${server}${path}`, { redirect: 'error', ...request });
    } catch (cause) {
      throw new Unavailable(`No server answers at ${server}; start one with \`heddle serve\`.`, { cause });
    }
  };
  const send = async (path: string, content: JsonObject): Promise<JsonObject> => {
    const body = JSON.stringify(content);
    const proof = proofFor(keys, { method: 'POST', path, body });
    const headers = { 'content-type': 'application/json', 'heddle-proof': proof };
    return objectIn(await ask(path, { method: 'POST', headers, body }));
  };
  const enter = async (path: string, content: JsonObject): Promise<JsonObject> => {
    const facts = { system: 'linux', system_version: '13', version: programVersion() };
    const answer = await send(path, { ...content, wg_pub_key: tunnelKeyOf(keys), facts });
    session = String((answer['session'] as JsonObject)['token']);
    return answer['peer'] as JsonObject;
  };
  return {
    name,
    async enrol(setupKey) {
      const { challenge, public_key } = await send('/agent/challenge', {});
      const tunnel_proof = answerTo(keys, { challenge: String(challenge), public_key: String(public_key) });
      const peer = await enter('/agent/enrol', { setup_key: setupKey, hostname: name, tunnel_proof });
      return { address: String(peer['ip']), label: String(peer['dns_label']) };
    },
    async *follow(signal) {
      const path = '/agent/stream';
      const connect = (): Promise<Response> => {
        const proof = proofFor(keys, { method: 'GET', path });
        const seen = last === '' ? {} : { 'last-event-id': last };
        return ask(path, { headers: { authorization: `Peer ${session}`, 'heddle-proof': proof, ...seen }, signal });
      };
      let response = await connect();
      if (response.status === 401) {
        // Sessions are short.
        await enter('/agent/login', {});
        response = await connect();
      }
      if (!response.ok) await objectIn(response);
      try {
        for await (const message of messagesOf(response)) {
          last = message.id ?? last;
          yield message;
        }
      } catch (cause) {
        throw new Unavailable(`The stream of ${server} broke off; it is taken up again.`, { cause });
      }
    },
  };
}
