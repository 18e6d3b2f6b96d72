import { asObject, equalJson } from '../../lib/json.ts';
import { type Cidr, contains, overlaps, parseCidr } from '../../lib/net/address.ts';
import { isSignInAllowed, readGroupRules } from '../../model/declare/allowed-groups.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import { actsAsOwner, tenantWithOwners } from '../../model/declare/owner-groups.ts';
import { peerDomainOf } from '../../model/declare/peer-domain.ts';
import type { Stored } from '../../model/state/stored.ts';
import { type AddressField, isAssignableIn } from '../shared/peer-addresses.ts';

interface Ranges {
  readonly settings: { readonly network_range: string | undefined; readonly network_range_v6: string | undefined };
}

interface RangeRule {
  readonly field: 'network_range' | 'network_range_v6';
  readonly address: AddressField;
  readonly family: 4 | 6;
  readonly minPrefix: number;
  readonly maxPrefix: number;
}

const rangeRules: readonly RangeRule[] = [
  { field: 'network_range', address: 'ip', family: 4, minPrefix: 0, maxPrefix: 28 },
  { field: 'network_range_v6', address: 'ipv6', family: 6, minPrefix: 48, maxPrefix: 120 },
];

/** Ranges with a special meaning everywhere. */
const reservedRanges = [
  { text: '127.0.0.0/8', what: 'loopback' },
  { text: '169.254.0.0/16', what: 'link-local' },
  { text: '224.0.0.0/4', what: 'multicast' },
  { text: '::1/128', what: 'loopback' },
  { text: 'fe80::/10', what: 'link-local' },
  { text: 'ff00::/8', what: 'multicast' },
];

/**
 * Checks the ranges of peer addresses: family, size, and no reserved addresses. Malformed ranges are reported
 * elsewhere.
 */
export function checkRanges(spec: Ranges): readonly Fault[] {
  return rangeRules.flatMap((rule) => {
    const range = parseRange(spec.settings[rule.field]);
    const message = range === undefined ? undefined : rangeFault(rule, range);
    return message === undefined ? [] : [{ code: 'network_range_invalid', path: `/settings/${rule.field}`, message }];
  });
}

function rangeFault(rule: RangeRule, range: Cidr): string | undefined {
  const { family, minPrefix, maxPrefix } = rule;
  if (range.family !== family) return `\`${range.text}\` is an IPv${range.family} range; write an IPv${family} range`;
  const reserved = reservedRanges.find(({ text }) => overlapsText(range, text));
  if (reserved !== undefined) return `\`${range.text}\` contains ${reserved.what} addresses; choose another range`;
  if (range.prefix > maxPrefix) return `\`${range.text}\` is too small; choose a prefix of at most /${maxPrefix}`;
  if (range.prefix < minPrefix) return `\`${range.text}\` is too large; choose a prefix of at least /${minPrefix}`;
  return undefined;
}

function overlapsText(range: Cidr, text: string): boolean {
  const other = parseRange(text);
  return other !== undefined && overlaps(range, other);
}

function parseRange(text: unknown): Cidr | undefined {
  const result = typeof text === 'string' ? parseCidr(text) : undefined;
  return result?.ok === true ? result.cidr : undefined;
}

/** Stops users from locking themselves out, because they could not undo it with their next request. */
export function refuseSelfLockout({ after, actor }: Mutation<Stored<'Account'>>): readonly Fault[] {
  // A user who manages a tenant signs in by the rules of their own account.
  if (after === undefined || actor?.tokenLists === undefined || actor.granted !== undefined) return [];
  const rules = readGroupRules(after.spec.settings ?? {});
  if (isSignInAllowed(rules, (claim) => actor.tokenLists?.(claim) ?? [])) return [];
  const message = `your own sign-in token lists none of these groups in its claim \`${rules.claim}\`, so this would keep you out; add one of your groups, or use a personal access token`;
  return [{ code: 'locks_out_caller', path: '/settings/jwt_allow_groups', message }];
}

/**
 * The claim that fills groups decides who is in them. Where the users of a group become owners of a tenant, only an
 * owner may change the claim.
 */
export function refuseClaimChange(
  { before, after, actor }: Mutation<Stored<'Account'>>,
  was: State,
  next: State,
): readonly Fault[] {
  if (before === undefined || after === undefined || actor === undefined || actsAsOwner(was, actor)) return [];
  const [then, now] = [before.spec.settings ?? {}, after.spec.settings ?? {}];
  const changed = claimSettings.find((name) => !equalJson(then[name] ?? null, now[name] ?? null));
  const tenant = changed === undefined ? undefined : tenantWithOwners(next);
  if (tenant === undefined) return [];
  const message = `a group makes its users owners of the tenant ${tenant}, and this setting decides which users are in the group; ask an owner to change it`;
  return [{ code: 'not_allowed', path: `/settings/${changed}`, message }];
}

const claimSettings = ['jwt_groups_enabled', 'jwt_groups_claim_name'] as const;

/** Checks the settings against the existing peers and zones. */
export function checkAgainstAccount(account: Stored<'Account'>, state: State): readonly Fault[] {
  return [...checkRangeCapacity(account, state), ...checkZones(account, state)];
}

/** Checks that the range has room for half as many peers again, and for at least ten. */
function checkRangeCapacity(account: Stored<'Account'>, state: State): readonly Fault[] {
  const range = parseRange(account.spec.settings?.network_range);
  if (range === undefined || range.family !== 4) return [];
  const peers = state.countOf('Peer') + state.countOf('ProxyPeer');
  const needed = Math.max(10, Math.ceil(peers * 1.5));
  // The first and the last address of a range are never given to a peer.
  const room = 2 ** (32 - range.prefix) - 2;
  if (room >= needed) return [];
  const message = `\`${range.text}\` has room for ${room} peers, but ${peers} peers need room for ${needed}; choose a larger range`;
  return [{ code: 'network_range_too_small', path: '/settings/network_range', message }];
}

function checkZones(account: Stored<'Account'>, state: State): readonly Fault[] {
  const domain = peerDomainOf(account);
  const [zone] = state.lookUp('DNSZone', 'domain', domain);
  if (zone === undefined) return [];
  const message = `\`${domain}\` is the domain of the zone \`${zone.name}\`; choose another domain for peers or change the zone`;
  return [{ code: 'account_dns_domain_taken', path: '/settings/dns_domain', message }];
}

/** Private address ranges. */
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];

/** Requires approval for a public range: its addresses hide the hosts on the internet that have the same ones. */
export function requirePublicRangeApproval(
  before: Stored<'Account'> | undefined,
  after: Stored<'Account'> | undefined,
): readonly string[] {
  if (after === undefined) return [];
  const was = before === undefined ? {} : (before.spec.settings ?? {});
  const is = after.spec.settings ?? {};
  return rangeRules.flatMap(({ field }) => {
    const range = was[field] === is[field] ? undefined : parseRange(is[field]);
    if (range === undefined || isPrivate(range)) return [];
    return [
      `${field} becomes ${range.text}, which is public: peers can no longer reach hosts that have these addresses on the internet; use a range in ${privateRanges.filter((text) => parseRange(text)?.family === range.family).join(', ')}`,
    ];
  });
}

function isPrivate(range: Cidr): boolean {
  return privateRanges.some((text) => {
    const outer = parseRange(text);
    return outer !== undefined && contains(outer, range);
  });
}

/** Warns that peers with an address outside the new range get a new one. */
export function warnOfNewAddresses(
  before: Stored<'Account'> | undefined,
  after: Stored<'Account'> | undefined,
): readonly string[] {
  if (before === undefined || after === undefined) return [];
  const [was, is] = [before.spec.settings ?? {}, after.spec.settings ?? {}];
  return rangeRules
    .filter(({ field }) => was[field] !== is[field])
    .map(({ field, family }) =>
      is[field] === undefined
        ? `${field} becomes unset: every peer loses its IPv${family} address`
        : `${field} becomes ${is[field]}: every peer outside it gets a new IPv${family} address`,
    );
}

/** Refuses a source whose documents contradict each other: they state a range, and peer addresses outside it. */
export function checkStatedAddresses({ before, after }: Mutation<Stored<'Account'>>, next: State): readonly Fault[] {
  if (before === undefined || after === undefined) return [];
  return rangeRules.flatMap(({ field, address }) => {
    const text = after.spec.settings?.[field];
    const range = text === before.spec.settings?.[field] ? undefined : parseRange(text);
    const by = after.declared.find(({ stated }) => asObject(stated['settings'])[field] === text);
    if (range === undefined || by === undefined) return [];
    const outside = next.ofKind('Peer').flatMap(({ name, declared }) => {
      const stated = declared.find(({ source }) => source === by.source)?.stated[address];
      return typeof stated === 'string' && stated !== '' && !isAssignableIn(range, stated)
        ? [`${stated} of ${name}`]
        : [];
    });
    if (outside.length === 0) return [];
    const message = `\`${range.text}\` does not contain every address that documents state for peers (${listFirstFew(outside)}); state addresses inside it, or leave out \`${address}\` there`;
    return [{ code: 'peer_address_outside', path: `/settings/${field}`, message }];
  });
}

function listFirstFew(texts: readonly string[]): string {
  const more = texts.length - 3;
  return `${texts.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
