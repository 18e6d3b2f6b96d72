import { answerChallenge, makeMachineKeys, proofFor, tunnelKeyOf } from '../../features/peers/enrolment/client.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';
import { programVersion } from '../../version.ts';
import { messagesOf, readJsonObject as readObject, type StreamMessage } from '../proxy/edge.ts';
import type { ExposedService, LocalService } from './local-service.ts';

/** A simulated machine, as a client of the server's agent API. */
export interface Machine {
  readonly name: string;
  /** Enrols the machine as a peer with a setup key. Throws when the server refuses. */
  enrol(setupKey: string): Promise<{ readonly address: string; readonly label: string }>;
  /** Connects, and yields events until the stream ends. A later call continues after the last event. */
  follow(signal: AbortSignal): AsyncGenerator<StreamMessage>;
  /** Exposes a local service for a limited time. Throws when the server refuses. */
  expose(service: LocalService): Promise<ExposedService>;
  /** Extends an exposure. Throws `NotFound` when it has ended. */
  renew(id: string): Promise<ExposedService>;
  withdraw(id: string): Promise<void>;
}

/** Parts of a request other than its proof. */
interface RequestParts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

const json = { 'content-type': 'application/json' };

/** The hint about tokens is empty, because machines do not authenticate with tokens that the user could replace. */
const objectIn = (response: Response): Promise<JsonObject> => readObject(response, '');

/** Creates a machine with newly generated keys. It has no session until it enrols. */
export function createMachine(server: string, name: string): Machine {
  const keys = makeMachineKeys();
  let session = '';
  let last = '';
  const ask = async (method: string, path: string, { headers, ...request }: RequestParts): Promise<Response> => {
    const proof = proofFor(keys, { method, path, ...(request.body === undefined ? {} : { body: request.body }) });
    const proven = { ...headers, 'heddle-proof': proof };
    try {
      return await fetch(`${server}${path}`, { ...request, method, headers: proven, redirect: 'error' });
    } catch (cause) {
      throw new Unavailable(`No server answers at ${server}; start one with \`heddle serve\`.`, { cause });
    }
  };
  const send = async (path: string, content: JsonObject): Promise<JsonObject> =>
    objectIn(await ask('POST', path, { headers: json, body: JSON.stringify(content) }));
  const enter = async (path: string, content: JsonObject): Promise<JsonObject> => {
    const facts = { system: 'linux', system_version: '13', version: programVersion() };
    const answer = await send(path, { ...content, wg_pub_key: tunnelKeyOf(keys), facts });
    session = String(asObject(answer['session'])['token']);
    return asObject(answer['peer']);
  };
  const askAsPeer = async (method: string, path: string, asked: RequestParts): Promise<Response> => {
    const once = () => ask(method, path, { ...asked, headers: { ...asked.headers, authorization: `Peer ${session}` } });
    const response = await once();
    if (response.status !== 401) return response;
    // The session has expired: sessions are short.
    await enter('/agent/login', {});
    return once();
  };
  const sendAsPeer = async (path: string, content: JsonObject): Promise<ExposedService> => {
    const answer = await objectIn(await askAsPeer('POST', path, { headers: json, body: JSON.stringify(content) }));
    const { id, domain, listen_port: port, expires_at: until } = answer;
    const address = port === undefined ? String(domain) : `${String(domain)}:${String(port)}`;
    return { id: String(id), address, until: Date.parse(String(until)) };
  };
  return {
    name,
    async enrol(setupKey) {
      const { challenge, public_key } = await send('/agent/challenge', {});
      const tunnel_proof = answerChallenge(keys, { challenge: String(challenge), public_key: String(public_key) });
      const peer = await enter('/agent/enrol', { setup_key: setupKey, hostname: name, tunnel_proof });
      return { address: String(peer['ip']), label: String(peer['dns_label']) };
    },
    async *follow(signal) {
      const headers: RequestParts['headers'] = last === '' ? {} : { 'last-event-id': last };
      const response = await askAsPeer('GET', '/agent/stream', { headers, signal });
      if (!response.ok) await objectIn(response);
      try {
        for await (const message of messagesOf(response)) {
          last = message.id ?? last;
          yield message;
        }
      } catch (cause) {
        throw new Unavailable(`The stream of ${server} was interrupted; it is resumed.`, { cause });
      }
    },
    expose: ({ port, mode }) => sendAsPeer('/agent/services', { port, mode }),
    renew: (id) => sendAsPeer(`/agent/services/${id}/renew`, {}),
    async withdraw(id) {
      await objectIn(await askAsPeer('DELETE', `/agent/services/${id}`, {}));
    },
  };
}
