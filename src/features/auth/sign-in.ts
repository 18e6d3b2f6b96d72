import type { Engine } from '../../commit/engine.ts';
import { findEntry } from '../../db/accounts/directory.ts';
import { accountsOfEmail, type IdentityLookUp, type KnownIdentity } from '../../db/accounts/identities.ts';
import { findOperatorAccount } from '../../db/accounts/operator.ts';
import { canonicalDomain } from '../../lib/net/domain.ts';
import { InvalidInput, NotAllowed, Unauthenticated, Unavailable } from '../../model/errors.ts';
import { canonicalEmail } from '../../objects/email-address.ts';
import { createAccountFor, type JoinResult, joinAccount, type UnknownPerson } from '../accounts/join.ts';
import { domainEntryKind } from '../accounts/tenants/steps.ts';
import { addUserInfo, type Claims } from './bearer.ts';
import { requireAllowedGroup } from './group-sync.ts';

export interface SignInOptions {
  readonly engine: Engine;
  /** Whether all people join the only account of this server. */
  readonly singleAccount: boolean;
  readonly findIdentity: IdentityLookUp;
}

/**
 * Signs in the person of a token. `requested` is the account that the person chooses among several, or `new` for an
 * account of their own.
 */
type SignIn = (claims: Claims, token: string, requested?: string) => Promise<KnownIdentity>;

/** Value by which a person chooses an account of their own. */
export const newAccountChoice = 'new';

/** Number of times that concurrent sign-ins may be faster before a sign-in gives up. */
const maxAttempts = 5;

/** Creates the sign-in of people without a user. Concurrent requests of one person share the first sign-in. */
export function createSignIn(options: SignInOptions): SignIn {
  const running = new Map<string, Promise<KnownIdentity>>();
  return (claims, token, requested) => {
    const who = `${claims.issuer.issuer} ${claims.subject} ${requested ?? ''}`;
    const present = running.get(who);
    if (present !== undefined) return present;
    const work = signIn(options, claims, token, requested).finally(() => running.delete(who));
    running.set(who, work);
    return work;
  };
}

/**
 * Creates a user for an unknown person: in the only account of the server, in the account of their e-mail domain, in
 * an account that has a user with the address and that the person chooses, or in a new account of their own.
 */
async function signIn(
  options: SignInOptions,
  claims: Claims,
  token: string,
  requested: string | undefined,
): Promise<KnownIdentity> {
  const { issuer, subject } = claims;
  // Every person who signs in at this server has a user already.
  if (issuer.kind === 'embedded') throw new Unauthenticated('token invalid');
  const person = withValidAddress(options.engine, await addUserInfo(claims, token));
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    await joinOrCreateAccount(options, person, requested);
    const known = await options.findIdentity({ issuer: issuer.issuer, subject, embedded: false });
    if (known !== undefined) return known;
  }
  throw new Unavailable('too many people are signing in for the first time at the moment; try again');
}

/**
 * Returns the claims without the e-mail address if it is none. Then the provider's id alone identifies the person, as
 * where a token has no address.
 */
function withValidAddress(engine: Engine, claims: Claims): Claims {
  const { value, fault } = canonicalEmail(engine.registry, claims.email);
  if (fault === undefined) return { ...claims, email: value };
  engine.reportFailure(
    `the e-mail address that ${claims.issuer.issuer} states for ${claims.subject} is ignored`,
    // Shortens the address, whose length only the issuer limits.
    new InvalidInput(fault),
  );
  return { ...claims, email: '', emailVerified: false };
}

async function joinOrCreateAccount(
  { engine, singleAccount }: SignInOptions,
  claims: Claims,
  requested: string | undefined,
): Promise<JoinResult> {
  const { issuer, subject, email, emailVerified } = claims;
  const name = claims.name || email || subject;
  const person: UnknownPerson = { issuer: issuer.issuer, subject, email, emailVerified, name };
  const domain = domainOf(claims);
  const account = singleAccount
    ? await findSharedAccount(engine)
    : await findDestination(engine, person, domain, requested);
  if (account === undefined) return createAccountFor(engine, person, domain);
  return joinAccount(engine, account, person, (state) => requireAllowedGroup(state, claims));
}

/** Returns the account that all people join. */
async function findSharedAccount({ database }: Engine): Promise<string> {
  const operator = await findOperatorAccount(database);
  if (operator !== undefined) return operator.account;
  throw new NotAllowed(
    'people cannot join this server: none of its accounts is configured as the account that people join',
  );
}

/** Returns the account that a person joins; `undefined` for a new account of their own. */
async function findDestination(
  { database }: Engine,
  { email, emailVerified }: UnknownPerson,
  domain: string,
  requested: string | undefined,
): Promise<string | undefined> {
  const ofDomain = domain === '' ? undefined : await findEntry(database, domainEntryKind, domain);
  // An account that invites people of another organisation must not get them before the account of that organisation
  // does.
  if (ofDomain !== undefined || !emailVerified || requested === newAccountChoice) return ofDomain;
  const claiming = await accountsOfEmail(database, email.toLowerCase(), requested);
  if (requested !== undefined && claiming.includes(requested)) return requested;
  // Any account can enter any address, so that one did does not show where the person wants to be: nor that only one
  // did.
  if (claiming.length === 0) return undefined;
  const who = claiming.length === 1 ? 'an account has a user' : 'several accounts have a user';
  throw new NotAllowed(
    `${who} with the address ${email} (${claiming.join(', ')}); send the request once with \`?account=ID\`, where ID is the account to join (its invitation names the account, which may be another one), or with \`?account=${newAccountChoice}\` for an account of your own`,
  );
}

/**
 * Returns the domain of the person's organisation: the domain that the issuer vouches for, else the domain of a proved
 * address. Empty when there is neither.
 */
function domainOf({ domain, email, emailVerified }: Claims): string {
  const stated = domain === '' && emailVerified ? email.slice(email.lastIndexOf('@') + 1) : domain;
  const name = canonicalDomain(stated) ?? '';
  return isMailProvider(name) ? '' : name;
}

/** Domains in which anyone can get an address, so that they belong to no organisation. */
const mailProviderDomains: ReadonlySet<string> = new Set([
  ...['gmail.com', 'googlemail.com', 'outlook.com', 'outlook.de', 'outlook.fr', 'hotmail.com', 'hotmail.co.uk'],
  ...['hotmail.fr', 'hotmail.de', 'hotmail.it', 'hotmail.es', 'live.com', 'live.nl', 'msn.com', 'passport.com'],
  ...['yahoo.com', 'yahoo.co.uk', 'yahoo.co.in', 'yahoo.co.jp', 'yahoo.fr', 'yahoo.de', 'yahoo.es', 'yahoo.it'],
  ...['ymail.com', 'rocketmail.com', 'aol.com', 'icloud.com', 'me.com', 'mac.com', 'proton.me', 'protonmail.com'],
  ...['protonmail.ch', 'pm.me', 'tutanota.com', 'tutanota.de', 'tuta.io', 'tuta.com', 'gmx.com', 'gmx.de', 'gmx.net'],
  ...['gmx.at', 'gmx.ch', 'web.de', 't-online.de', 'freenet.de', 'posteo.de', 'posteo.net', 'mailbox.org', 'mail.com'],
  ...['mail.ru', 'inbox.ru', 'list.ru', 'bk.ru', 'yandex.ru', 'yandex.com', 'rambler.ru', 'ukr.net', 'seznam.cz'],
  ...['wp.pl', 'o2.pl', 'onet.pl', 'interia.pl', 'orange.fr', 'wanadoo.fr', 'free.fr', 'laposte.net', 'sfr.fr'],
  ...['libero.it', 'virgilio.it', 'tin.it', 'alice.it', 'ziggo.nl', 'kpnmail.nl', 'telenet.be', 'skynet.be'],
  ...['comcast.net', 'verizon.net', 'att.net', 'sbcglobal.net', 'bellsouth.net', 'cox.net', 'btinternet.com'],
  ...['qq.com', '163.com', '126.com', 'sina.com', 'sohu.com', 'foxmail.com', 'naver.com', 'daum.net', 'hanmail.net'],
  ...['rediffmail.com', 'zoho.com', 'zohomail.com', 'fastmail.com', 'fastmail.fm', 'hey.com', 'hushmail.com'],
  ...['uol.com.br', 'bol.com.br', 'terra.com.br', 'mailinator.com', 'yopmail.com', 'guerrillamail.com'],
]);

function isMailProvider(domain: string): boolean {
  return mailProviderDomains.has(domain);
}
