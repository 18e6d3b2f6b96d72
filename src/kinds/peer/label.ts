import { canonicalDomain, unicodeDomain } from '../../lib/net/domain.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

const maxNameLength = 59;

/** Returns the DNS label for a name: its first label in punycode. Returns `undefined` when nothing is left of it. */
export function nameToLabel(name: string): string | undefined {
  const [first = ''] = name.trim().toLowerCase().split('.');
  const ascii = canonicalDomain(first.replace(/[^a-z\d\u0080-\uffff-]/g, '-').replace(/^-+|-+$/g, '')) ?? first;
  const label = ascii.length > maxNameLength ? first : ascii;
  const clean = label
    .replace(/[^a-z\d-]/g, '-')
    .slice(0, maxNameLength)
    .replace(/^-+|-+$/g, '');
  if (clean === '') return undefined;
  // A name that ends in a number would be taken for an address.
  return canonicalDomain(clean) ?? canonicalDomain(`peer-${clean}`.slice(0, maxNameLength));
}

/**
 * Returns the label of a new peer, from its host name or else its name. If it is taken, parts of the peer's address are
 * appended until it is free.
 */
export function chooseNewLabel(peer: Stored<'Peer'>, ip: string, state: State): string {
  const label = nameToLabel(peer.spec.hostname ?? '') ?? nameToLabel(peer.name) ?? 'peer';
  const parts = ip.split('.');
  const candidates = [label, ...[2, 1, 0].map((from) => withSuffix(label, parts.slice(from)))];
  // The address is unique, and so is the last candidate, unless another peer was given exactly that name.
  return candidates.find((candidate) => isFree(candidate, state)) ?? `${label.slice(0, 40)}-${peer.id}`.slice(0, 63);
}

/** Returns all labels under which a peer is found. */
export function labelsOf(peer: Stored<'Peer'>): readonly string[] {
  return [...new Set([peer.spec.dns_label ?? '', ...(peer.spec.extra_dns_labels ?? [])])];
}

function isFree(label: string, state: State): boolean {
  return state.lookUp('Peer', 'label', label).length === 0 && state.findByUnique('Peer', 'key', label) === undefined;
}

/** Returns the label for a peer's name. If it is taken, the last two parts of the peer's address are appended. */
export function chooseRenamedLabel(peer: Stored<'Peer'>, state: State): string {
  const label = nameToLabel(peer.name);
  if (label === undefined) return peer.spec.dns_label ?? '';
  const taken = state.lookUp('Peer', 'label', label).some(({ id }) => id !== peer.id);
  return taken ? withSuffix(label, (peer.spec.ip ?? '').split('.').slice(2)) : label;
}

const maxLabelLength = 63;

/**
 * Appends parts to a label. Punycode is encoded again, because a suffix would otherwise become part of the encoding.
 */
function withSuffix(label: string, parts: readonly string[]): string {
  const suffix = `-${parts.join('-')}`;
  const whole = canonicalDomain(`${unicodeDomain(label)}${suffix}`);
  if (whole !== undefined) return whole;
  const cut = label.startsWith('xn--') ? 'peer' : label.slice(0, maxLabelLength - suffix.length).replace(/-+$/, '');
  return `${cut}${suffix}`;
}
