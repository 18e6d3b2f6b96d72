import { canonicalDomain, unicodeDomain } from '../../lib/net/domain.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

const longest = 59;

/** The DNS label that follows from a name: its first label in punycode; `undefined` when nothing is left of it. */
export function labelOf(name: string): string | undefined {
  const [first = ''] = name.trim().toLowerCase().split('.');
  const ascii = canonicalDomain(first.replace(/[^a-z\d\u0080-\uffff-]/g, '-').replace(/^-+|-+$/g, '')) ?? first;
  const label = ascii.length > longest ? first : ascii;
  const clean = label
    .replace(/[^a-z\d-]/g, '-')
    .slice(0, longest)
    .replace(/^-+|-+$/g, '');
  if (clean === '') return undefined;
  // A name that ends in a number is taken for an address.
  return canonicalDomain(clean) ?? canonicalDomain(`peer-${clean}`.slice(0, longest));
}

/** The label of a new peer: by its host name, else its name; a taken one is followed by parts of its address until it is free. */
export function labelFor(peer: Stored<'Peer'>, ip: string, state: State): string {
  const label = labelOf(peer.spec.hostname ?? '') ?? labelOf(peer.name) ?? 'peer';
  const parts = ip.split('.');
  const candidates = [label, ...[2, 1, 0].map((from) => withSuffix(label, parts.slice(from)))];
  // The address is unique, so the last candidate is too, unless another peer was given that very name.
  return candidates.find((candidate) => isFree(candidate, state)) ?? `${label.slice(0, 40)}-${peer.id}`.slice(0, 63);
}

/** The labels under which a peer is found. */
export function namesOf(peer: Stored<'Peer'>): readonly string[] {
  return [...new Set([peer.spec.dns_label ?? '', ...(peer.spec.extra_dns_labels ?? [])])];
}

function isFree(label: string, state: State): boolean {
  return state.lookUp('Peer', 'label', label).length === 0 && state.holderOf('Peer', 'key', label) === undefined;
}

/** The label that a peer of this name gets: a taken one is followed by the last two parts of its address. */
export function freeLabel(peer: Stored<'Peer'>, state: State): string {
  const label = labelOf(peer.name);
  if (label === undefined) return peer.spec.dns_label ?? '';
  const taken = state.lookUp('Peer', 'label', label).some(({ id }) => id !== peer.id);
  return taken ? withSuffix(label, (peer.spec.ip ?? '').split('.').slice(2)) : label;
}

const longestLabel = 63;

/** The label with parts behind it. Punycode is written again: whatever follows it would be a part of it. */
function withSuffix(label: string, parts: readonly string[]): string {
  const suffix = `-${parts.join('-')}`;
  const whole = canonicalDomain(`${unicodeDomain(label)}${suffix}`);
  if (whole !== undefined) return whole;
  const cut = label.startsWith('xn--') ? 'peer' : label.slice(0, longestLabel - suffix.length).replace(/-+$/, '');
  return `${cut}${suffix}`;
}
