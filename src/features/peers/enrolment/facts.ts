import { verify, X509Certificate } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { parseAddress, parseCidr } from '../../../lib/net/address.ts';
import type { Problem } from '../../../model/problem.ts';
import { isStorable } from '../../../model/storable-text.ts';
import { certificateText } from './proof-text.ts';

/** Function that reads one member. Returns the value to store, or adds a fault and returns `undefined`. */
type FactReader = (value: Json, path: string, faults: AddFault) => Json | undefined;

/** Adds a fault. */
type AddFault = (path: string, message: string) => undefined;

const text =
  (longest: number): FactReader =>
  (value, path, fault) => {
    if (typeof value !== 'string') return fault(path, 'must be a text');
    if (value.length > longest) return fault(path, `must not be longer than ${longest} characters`);
    // Nothing else here checks characters.
    if (!isStorable(value)) return fault(path, 'contains characters that cannot be stored');
    return value;
  };

const flag: FactReader = (value, path, fault) =>
  typeof value === 'boolean' ? value : fault(path, 'must be true or false');

const list =
  (longest: number, read: FactReader): FactReader =>
  (value, path, fault) => {
    if (!Array.isArray(value)) return fault(path, 'must be a list');
    if (value.length > longest) return fault(path, `must not have more than ${longest} entries`);
    return value.flatMap((item: Json, at) => {
      const kept = read(item, `${path}/${at}`, fault);
      return kept === undefined ? [] : [kept];
    });
  };

const members =
  (fields: Readonly<Record<string, FactReader>>, required: readonly string[] = []): FactReader =>
  (value, path, fault) => {
    if (!isObject(value)) return fault(path, 'must be an object');
    // An object in a JSON body contains only JSON.
    const given = value as JsonObject;
    for (const name of required) if ((given[name] ?? null) === null) fault(path, `needs \`${name}\``);
    for (const name of Object.keys(given))
      if (!Object.hasOwn(fields, name)) fault(`${path}/${name}`, 'is not known; remove it');
    const kept = Object.entries(fields).flatMap(([name, read]) => {
      const item = given[name];
      const result = item === undefined || item === null ? undefined : read(item, `${path}/${name}`, fault);
      return result === undefined ? [] : [[name, result] as const];
    });
    return Object.fromEntries(kept);
  };

const interfaceAddress: FactReader = (value, path, fault) => {
  const [address = '', prefix, more] = typeof value === 'string' ? value.split('/') : [];
  const parsed = parseAddress(address);
  if (parsed === undefined || more !== undefined || (prefix !== undefined && !isPrefix(prefix, parsed.family)))
    return fault(path, 'must be an address, with its prefix, such as 10.0.0.7/24');
  return `${parsed.text}/${prefix ?? (parsed.family === 4 ? 32 : 128)}`;
};

function isPrefix(prefix: string, family: 4 | 6): boolean {
  return parseCidr(`${family === 4 ? '0.0.0.0' : '::'}/${prefix}`).ok || parseCidr(`0.0.0.0/${prefix}`).ok;
}

const mac: FactReader = (value, path, fault) =>
  typeof value === 'string' && /^([\da-f]{2}(:|$)){6}$/i.test(value)
    ? value.toLowerCase()
    : fault(path, 'must be a hardware address such as 02:42:0a:14:00:07');

const localFlags = [
  ...['quantum_safe_enabled', 'quantum_safe_permissive', 'server_ssh_allowed', 'remote_jobs_allowed'],
  ...['disable_client_routes', 'disable_server_routes', 'disable_dns', 'disable_firewall', 'block_lan_access'],
  ...['block_inbound', 'lazy_connection_enabled'],
];

const fields: Readonly<Record<string, FactReader>> = {
  system: (value, path, fault) =>
    typeof value === 'string' && /^[a-z\d_-]{1,32}$/.test(value)
      ? value
      : fault(path, 'must be one lower-case word such as linux, darwin, windows, android or ios'),
  system_version: text(64),
  os: text(128),
  kernel_version: text(128),
  version: text(64),
  ui_version: text(64),
  serial_number: text(128),
  network_addresses: list(128, members({ net_ip: interfaceAddress, mac }, ['net_ip', 'mac'])),
  local_flags: members(Object.fromEntries(localFlags.map((name) => [name, flag]))),
  processes: list(2000, text(1024)),
  certificates: list(16, members({ chain: list(8, text(16_384)), signature: text(2048) }, ['chain', 'signature'])),
};

/** The facts to store, or all problems in them. */
export type FactsResult =
  | { readonly ok: true; readonly facts: JsonObject }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads the facts that a peer reports about itself. `key` is the signing key of the peer, to which its certificates are
 * bound.
 */
export function readFacts(given: Json, key: string, now: number, path = ''): FactsResult {
  const problems: Problem[] = [];
  const fault: AddFault = (at, message) => {
    const what = at === '' ? 'the facts' : `\`${at.slice(1)}\``;
    problems.push({ code: 'fact_invalid', path: at, message: `${what}: ${message}` });
    return undefined;
  };
  const kept = members(fields)(given, path, fault);
  if (!isObject(kept) || problems.length > 0) return { ok: false, problems: problems.slice(0, 100) };
  const { certificates = [], ...facts } = kept as JsonObject;
  // `fields` has checked that these members are present.
  const claims = certificates as unknown as readonly CertificateClaim[];
  const held: Json[] = [];
  for (const [at, claim] of claims.entries()) {
    const wrong = checkCertificate(claim, key, now);
    if (wrong === undefined) held.push(claim.chain);
    else fault(`${path}/certificates/${at}`, wrong);
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, facts: { ...facts, ...osOf(facts), ...(held.length === 0 ? {} : { certificates: held }) } };
}

/**
 * Makes the name of the operating system that users see from `system` and its version, unless the peer reported `os`.
 */
function osOf({ os, system, system_version }: JsonObject): JsonObject {
  if (os !== undefined || system === undefined) return {};
  return { os: [system, system_version].filter((part) => part !== undefined).join(' ') };
}

/**
 * A certificate that a peer claims to hold: the certificate in PEM, followed by its chain to an authority, and a
 * signature by its key.
 */
export interface CertificateClaim {
  readonly chain: readonly string[];
  /** Signature of `certificateText`, in base64. */
  readonly signature: string;
}

/** Returns what is wrong with the claim, `undefined` when it is valid. */
function checkCertificate({ chain, signature }: CertificateClaim, key: string, now: number): string | undefined {
  const read = chain.map(readCertificate);
  const [leaf] = read;
  if (leaf === undefined || read.includes(undefined)) return 'the chain must be X.509 certificates in PEM';
  if (leaf.validFromDate.getTime() > now) return `the certificate is valid from ${leaf.validFromDate.toISOString()}`;
  if (leaf.validToDate.getTime() < now) return `the certificate was valid until ${leaf.validToDate.toISOString()}`;
  if (!isSignedByCertificate(leaf, key, signature)) return 'the signature was not made with the key of the certificate';
  return undefined;
}

function readCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    // The constructor throws when the text is not a certificate.
    return undefined;
  }
}

function isSignedByCertificate({ publicKey }: X509Certificate, key: string, signature: string): boolean {
  const digest = ['ed25519', 'ed448'].includes(publicKey.asymmetricKeyType ?? '') ? null : 'sha256';
  try {
    return verify(digest, Buffer.from(certificateText(key)), publicKey, Buffer.from(signature, 'base64'));
  } catch {
    // The key type cannot sign.
    return false;
  }
}
