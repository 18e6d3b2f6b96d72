import type { Call } from '../../../commit/engine.ts';
import type { FoundEntry } from '../../../db/accounts/find-entries.ts';
import { asTextOrEmpty, isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { canonicalDomain } from '../../../lib/net/domain.ts';
import { sha256Base64 } from '../../../lib/node-pure.ts';
import { readPublicKey, toStandardBase64 } from '../../../lib/public-key.ts';
import { InvalidInput, Unauthenticated } from '../../../model/errors.ts';
import type { Problem } from '../../../model/problem.ts';
import type { PeeringOptions } from '../peering.ts';
import type { Challenges, TunnelProof } from './challenges.ts';
import { type Authorizer, type Enrolled, enrolPeer } from './enrolment.ts';
import { readFacts } from './facts.ts';
import type { Proof } from './proof.ts';

/** A request to become a peer, whose signature was checked. */
export interface EnrolRequest {
  readonly body: JsonObject;
  readonly proof: Proof;
  /** The user who signs the machine in. Absent when a setup key does. */
  readonly call?: Call;
  readonly location: JsonObject;
  /** Throws when the machine does not hold the key of the tunnel. */
  checkTunnel(proof: TunnelProof, keys: Parameters<Challenges['check']>[1]): void;
  /** Finds a setup key by its hash. */
  findKey(hash: string): Promise<FoundEntry | undefined>;
  /** Marks the nonce of the proof as used in the account that the machine joins. */
  useNonce(account: string): Promise<void>;
}

/** An enrolled peer and its account. */
export interface EnrolResult extends Enrolled {
  readonly account: string;
}

/** Enrols a machine. Throws the reason when the machine is refused. */
export async function enrol({ engine, now }: PeeringOptions, request: EnrolRequest): Promise<EnrolResult> {
  const { proof } = request;
  const body = readBody(request.body, proof.key, now());
  request.checkTunnel(body.answer, { tunnel: body.tunnel, signing: proof.key });
  const { account, authorizer } = await findAuthorizer(request, body.setupKey);
  await request.useNonce(account);
  const enrolled = await enrolPeer(engine, {
    ...{ account, authorizer, name: body.name, hostname: body.hostname },
    tunnelKey: toStandardBase64(body.tunnel),
    signingKey: proof.key,
    extraLabels: body.labels,
    location: request.location,
    ...(body.facts === undefined ? {} : { facts: body.facts }),
  });
  return { ...enrolled, account };
}

async function findAuthorizer(
  { call, findKey }: EnrolRequest,
  setupKey: string | undefined,
): Promise<{ readonly account: string; readonly authorizer: Authorizer }> {
  if (call !== undefined) {
    const { account, actor, revision } = call;
    return { account, authorizer: { way: 'user', actor, revision } };
  }
  if (setupKey === undefined)
    throw new Unauthenticated('the enrolment is not authorized: send `setup_key`, or the access token of a user');
  const hash = sha256Base64(setupKey.trim().toUpperCase());
  const found = await findKey(hash);
  if (found === undefined) throw new Unauthenticated('setup key invalid');
  return {
    account: found.account,
    authorizer: { way: 'setup_key', id: found.subject, hash, revision: found.revision },
  };
}

interface EnrolmentBody {
  readonly name: string;
  readonly hostname: string;
  readonly setupKey?: string;
  readonly tunnel: string;
  readonly answer: TunnelProof;
  readonly labels: readonly string[];
  readonly facts?: JsonObject;
}

const known = ['setup_key', 'name', 'hostname', 'wg_pub_key', 'tunnel_proof', 'extra_dns_labels', 'facts'];

function readBody(body: JsonObject, key: string, now: number): EnrolmentBody {
  const problems: Problem[] = [];
  const fault = (path: string, message: string): void => {
    problems.push({ code: 'enrolment_invalid', path, message });
  };
  for (const name of Object.keys(body))
    if (!known.includes(name)) fault(`/${name}`, `\`${name}\` is not known; remove it`);
  const hostname = textIn(body, 'hostname', 255, fault);
  const name = isAbsent(body['name']) ? hostname : textIn(body, 'name', 255, fault);
  const tunnel = readPublicKey(asTextOrEmpty(body['wg_pub_key']));
  if (tunnel === undefined) fault('/wg_pub_key', '`wg_pub_key` must be an X25519 key: 32 bytes in base64');
  const answer = readAnswer(body['tunnel_proof']);
  if (answer === undefined)
    fault('/tunnel_proof', '`tunnel_proof` must be `{challenge, mac}`; ask for the challenge at /agent/challenge');
  const labels = readLabels(body['extra_dns_labels'] ?? [], fault);
  const read = isAbsent(body['facts']) ? undefined : readFacts(body['facts'], key, now, '/facts');
  if (read?.ok === false) problems.push(...read.problems);
  const setupKey = body['setup_key'] ?? undefined;
  if (setupKey !== undefined && typeof setupKey !== 'string') fault('/setup_key', '`setup_key` must be a text');
  if (problems.length > 0 || tunnel === undefined || answer === undefined)
    throw new InvalidInput(problems[0]?.message ?? 'the input is wrong', { problems });
  return {
    ...{ name, hostname, tunnel, answer, labels },
    ...(typeof setupKey === 'string' ? { setupKey } : {}),
    ...(read?.ok === true ? { facts: read.facts } : {}),
  };
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

type AddFault = (path: string, message: string) => void;

function textIn(body: JsonObject, name: string, longest: number, fault: AddFault): string {
  const value = body[name];
  if (typeof value === 'string' && value.trim() !== '' && value.length <= longest) return value;
  fault(`/${name}`, `\`${name}\` must be a text of 1 to ${longest} characters`);
  return '';
}

function readAnswer(value: Json | undefined): EnrolmentBody['answer'] | undefined {
  if (!isObject(value)) return undefined;
  const { challenge, mac } = value;
  return typeof challenge === 'string' && typeof mac === 'string' ? { challenge, mac } : undefined;
}

const maxLabels = 32;

function readLabels(value: Json, fault: AddFault): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length > maxLabels) fault('/extra_dns_labels', `\`extra_dns_labels\` must not have more than ${maxLabels}`);
  const labels = list.slice(0, maxLabels).map((item: Json, at) => {
    const label = typeof item === 'string' ? canonicalDomain(item) : undefined;
    if (label === undefined || label.includes('.') || label.length > 63)
      fault(`/extra_dns_labels/${at}`, '`extra_dns_labels` must be DNS labels: letters, digits and hyphens, no dots');
    return label ?? '';
  });
  return [...new Set(labels)].sort();
}
