import type { Call, Engine } from '../../commit/engine.ts';
import { asTextOrEmpty, type Json, type JsonObject } from '../../lib/json.ts';
import { unmappedAddress } from '../../lib/net/address.ts';
import { readPublicKey, toStandardBase64 } from '../../lib/public-key.ts';
import { InvalidInput, NotAllowed, NotFound, Unauthenticated } from '../../model/errors.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import type { ObjectWithState } from '../../objects/objects.ts';
import { type AgentGuard, createAgentGuard } from './enrolment/agent-guard.ts';
import { type Challenge, type Challenges, createChallenges } from './enrolment/challenges.ts';
import { enrol } from './enrolment/enrol.ts';
import type { Enrolled } from './enrolment/enrolment.ts';
import { readFacts } from './enrolment/facts.ts';
import { requireActiveUser, requireOwnPeer, signInPeer } from './enrolment/login.ts';
import { checkProof } from './enrolment/proof.ts';
import type { ProvenRequest } from './enrolment/proof-text.ts';
import { type IssuedSession, issueSession, readSession } from './enrolment/sessions.ts';
import { readExposure } from './exposure/agent.ts';
import { exposeService, renewExposure, withdrawExposure } from './exposure/exposure.ts';

/** Options of peering. */
export interface PeeringOptions {
  readonly engine: Engine;
  /** Milliseconds since 1970. */
  now(): number;
  /** Returns the location of a public address, as far as it is known. */
  locate(address: string): JsonObject;
}

/** A request of an agent, independent of the transport. */
export interface AgentRequest extends ProvenRequest {
  /** Parsed body. Absent when there is none. */
  readonly content?: JsonObject;
  readonly proof?: string | undefined;
  readonly authorization?: string | undefined;
  /** Address from which the request came. */
  readonly address: string;
}

/** The peer that makes a request, in the state of its account at that time. */
export interface Agent {
  readonly account: string;
  readonly peer: Stored<'Peer'>;
  readonly state: Snapshot;
  /** Current location, by the address from which the request came. */
  readonly location: JsonObject;
}

/** Answer to a peer that enrolled or logged in. */
export interface PeerSession {
  readonly account: string;
  readonly peer: Stored<'Peer'>;
  readonly state: Snapshot;
  readonly session: IssuedSession;
}

/** All operations for agents. */
export interface Peering {
  /** Creates the challenge that an enrolling machine has to answer. */
  challenge(): Challenge;
  /** Enrols a machine, by a setup key or by the user who signs it in. */
  enrol(request: AgentRequest, call?: Call): Promise<PeerSession>;
  /** Gives a peer a session. `call` is the user who signs the peer in again after its login has expired. */
  login(request: AgentRequest, call?: Call): Promise<PeerSession>;
  /**
   * Returns the peer that makes the request. Throws `Unauthenticated`, and `NotAllowed` for a peer whose login has
   * expired or whose user is blocked.
   */
  authenticate(request: AgentRequest): Promise<Agent>;
  /** Stores the facts that a peer reports about itself. */
  report(agent: Agent, facts: Json): Promise<void>;
  /** Exposes a local service of a peer through the reverse proxy, for a limited time. */
  expose(agent: Agent, body: JsonObject): Promise<ObjectWithState>;
  /** Extends an exposed service. */
  renewExposed(agent: Agent, service: string): Promise<ObjectWithState>;
  /** Ends an exposed service. */
  withdraw(agent: Agent, service: string): Promise<void>;
}

/** Creates the operations for agents. */
export function createPeering(options: PeeringOptions): Peering {
  const { engine, now } = options;
  const guard = createAgentGuard(engine.database);
  const challenges = createChallenges(engine.planEnvironment);
  return {
    challenge: () => challenges.make(now()),
    enrol: (request, call) => enrolMachine(options, { guard, challenges }, request, call),
    login: (request, call) => logIn(options, guard, request, call),
    authenticate: (request) => authenticate(options, guard, request),
    async report({ account, peer, location }, given) {
      const facts = readOwnFacts(given, peer.spec.signing_key ?? '', now());
      await engine.presence.record(account, { peer: peer.id, facts, location });
    },
    expose: async (agent, body) => exposeService(engine, agent, readExposure(body)),
    renewExposed: (agent, service) => renewExposure(engine, agent, service),
    withdraw: (agent, service) => withdrawExposure(engine, agent, service),
  };
}

async function enrolMachine(
  options: PeeringOptions,
  { guard, challenges }: { readonly guard: AgentGuard; readonly challenges: Challenges },
  request: AgentRequest,
  call?: Call,
): Promise<PeerSession> {
  const proof = checkProof(request.proof, request, options.now());
  const joined = await enrol(options, {
    ...{ body: request.content ?? {}, proof, location: locationOf(options, request) },
    ...(call === undefined ? {} : { call }),
    checkTunnel: (answer, keys) => challenges.check(answer, keys, options.now()),
    findKey: (hash) => guard.findEntry('setup-key', hash),
    useNonce: (account) => guard.useNonceBeforeCommit(account, proof),
  });
  return openSession(options, joined);
}

async function logIn(
  options: PeeringOptions,
  guard: AgentGuard,
  request: AgentRequest,
  call?: Call,
): Promise<PeerSession> {
  const { engine, now } = options;
  const proof = checkProof(request.proof, request, now());
  const { content = {} } = request;
  const tunnel = readPublicKey(asTextOrEmpty(content['wg_pub_key'])) ?? '';
  const found = await guard.findEntry('peer-key', toStandardBase64(tunnel));
  if (found === undefined) throw new NotFound('a peer with this key is not found; enrol first');
  const { account, subject } = found;
  const read = async (): Promise<Enrolled> => {
    const state = await engine.snapshots.fresh(account);
    return { peer: requirePeer(state, subject, proof.key), state };
  };
  const seen = await read();
  await guard.useNonce(account, proof);
  requireActiveUser(seen.state, seen.peer);
  if (call === undefined) requireLogin(seen.peer);
  else requireOwnPeer(seen.peer, call);
  const facts = content['facts'] === undefined ? undefined : readOwnFacts(content['facts'], proof.key, now());
  await engine.presence.record(account, {
    ...{ peer: subject, location: locationOf(options, request) },
    ...(call === undefined ? {} : { signedIn: true }),
    ...(facts === undefined ? {} : { facts }),
  });
  const after = call === undefined ? seen : await signInPeer(engine, await read(), call);
  return openSession(options, { account, ...after });
}

async function authenticate(options: PeeringOptions, guard: AgentGuard, request: AgentRequest): Promise<Agent> {
  const { engine, now } = options;
  const session = readSession(engine.planEnvironment, request.authorization, now());
  const proof = checkProof(request.proof, request, now());
  if (proof.key !== session.key) throw new Unauthenticated('the session belongs to another key');
  await guard.useNonce(session.account, proof);
  const state = await engine.snapshots.fresh(session.account).catch((error: unknown) => {
    throw error instanceof NotFound ? new Unauthenticated('the account of the peer is gone') : error;
  });
  const peer = requirePeer(state, session.peer, session.key);
  requireActiveUser(state, peer);
  requireLogin(peer);
  return { account: session.account, peer, state, location: locationOf(options, request) };
}

function locationOf({ locate }: PeeringOptions, { address }: AgentRequest): JsonObject {
  return { connection_ip: unmappedAddress(address) ?? address, ...locate(address) };
}

function openSession({ engine, now }: PeeringOptions, to: Omit<PeerSession, 'session'>): PeerSession {
  const { account, peer, state } = to;
  const session = { account, peer: peer.id, key: peer.spec.signing_key ?? '' };
  return { account, peer, state, session: issueSession(engine.planEnvironment, session, now()) };
}

function readOwnFacts(given: Json, key: string, now: number): JsonObject {
  const read = readFacts(given, key, now);
  if (read.ok) return read.facts;
  throw new InvalidInput(read.problems[0]?.message ?? 'the facts are wrong', { problems: read.problems });
}

/** Returns the peer if it has this signing key, else throws. A machine with another key learns nothing more. */
function requirePeer(state: Snapshot, id: string, key: string): Stored<'Peer'> {
  const peer = state.find('Peer', id);
  if (peer === undefined) throw new Unauthenticated('the peer was deleted; enrol again with a new key pair');
  if (peer.spec.signing_key !== key) throw new Unauthenticated('the proof was not signed with the key of the peer');
  return peer;
}

function requireLogin(peer: Stored<'Peer'>): void {
  if (peer.derived.login_expired !== true) return;
  throw new NotAllowed('the login of the peer has expired; log in with the access token of its user');
}
