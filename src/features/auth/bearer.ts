import { decodeJwt, type JWTPayload, errors as joseErrors, jwtVerify } from 'jose';
import { sha256Base64 } from '../../lib/node-pure.ts';
import { Unauthenticated, Unavailable } from '../../model/errors.ts';
import { isStorable, withoutUnstorable } from '../../model/storable-text.ts';
import type { Issuer } from './issuers.ts';

/** Verified claims of a signed token about a person. */
export interface Claims {
  readonly issuer: Issuer;
  /** Identifier of the person at the issuer; with the embedded issuer, the id of a user. */
  readonly subject: string;
  /** Account of the user; present when the embedded issuer sets the claim `account`. */
  readonly account?: string;
  /** Hash of the id of the embedded issuer's grant, which may have been revoked since. */
  readonly grant?: string;
  /** E-mail address as the token spells it; empty when the token has none. */
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  /** Domain of the organisation that the issuer vouches for; empty when the issuer names none. */
  readonly domain: string;
  /** Time at which the person signed in, in milliseconds since 1970. */
  readonly signedInAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** All claims, by name. */
  readonly all: Readonly<Record<string, unknown>>;
}

/** Verifies signed tokens. */
export interface TokenVerifier {
  /** Returns the claims of a token. Throws `Unauthenticated`, or `Unavailable` when the issuer does not answer. */
  verify(token: string): Promise<Claims>;
}

export interface TokenVerifierOptions {
  readonly issuers: readonly Issuer[];
  /** Milliseconds since 1970. */
  now(): number;
  /** Maximum number of verified tokens that are cached. */
  readonly capacity?: number;
}

/** Tolerated difference between clocks, in seconds. */
const toleranceSeconds = 5;

/** Maximum length of a token, in characters. No issuer signs a longer one, so a longer text is not even parsed. */
const maxCharacters = 16_384;

/** How long a verified token is cached, in milliseconds. The limit makes the removal of a key take effect. */
const cacheMs = 60_000;

interface CachedClaims {
  readonly claims: Claims;
  readonly epoch: number;
  readonly until: number;
}

/**
 * Creates a verifier for tokens of the issuers, each with its keys, audience and algorithms. Verified tokens are
 * cached.
 */
export function createTokenVerifier({ issuers, now, capacity = 10_000 }: TokenVerifierOptions): TokenVerifier {
  // The cache is keyed by hash, because tokens are secrets. A token belongs to one person in one account.
  const remembered = new Map<string, CachedClaims>();
  return {
    async verify(token) {
      if (token.length > maxCharacters) throw invalid();
      const hash = sha256Base64(token);
      const known = remembered.get(hash);
      if (known !== undefined && isStillGood(known, now())) return known.claims;
      remembered.delete(hash);
      const issuer = issuerNamed(issuers, issuerOf(token));
      if (issuer === undefined) throw invalid();
      const claims = await check(issuer, token, now());
      if (remembered.size >= capacity) remembered.delete(remembered.keys().next().value ?? '');
      const until = Math.min(claims.expiresAt, now() + cacheMs);
      remembered.set(hash, { claims, epoch: issuer.epoch(), until });
      return claims;
    },
  };
}

/** Looked up for each token, because the name of the embedded issuer is only known once the server listens. */
function issuerNamed(issuers: readonly Issuer[], name: string): Issuer | undefined {
  return issuers.find(({ issuer }) => issuer === name);
}

function isStillGood({ claims, epoch, until }: CachedClaims, now: number): boolean {
  return now < until && epoch === claims.issuer.epoch();
}

/** Returns the issuer that a token names. The token is not verified yet. */
function issuerOf(token: string): string {
  try {
    return String(decodeJwt(token).iss);
  } catch {
    throw invalid();
  }
}

async function check(issuer: Issuer, token: string, now: number): Promise<Claims> {
  try {
    const { payload } = await jwtVerify(token, issuer.keys, {
      issuer: issuer.issuer,
      audience: [...issuer.audience],
      algorithms: [...issuer.algorithms],
      clockTolerance: toleranceSeconds,
      requiredClaims: ['exp'],
      currentDate: new Date(now),
    });
    return claimsOf(issuer, payload, now);
  } catch (error) {
    if (error instanceof Unavailable || error instanceof Unauthenticated) throw error;
    if (error instanceof joseErrors.JWTExpired) throw new Unauthenticated('token expired', { cause: error });
    throw new Unauthenticated('token invalid', { cause: error });
  }
}

/** Adds the facts that the issuer returns about the person on request, when the token has no e-mail address. */
export async function addUserInfo(claims: Claims, token: string): Promise<Claims> {
  if (claims.email !== '' || claims.issuer.fetchUserInfo === undefined) return claims;
  const more = await claims.issuer.fetchUserInfo(token);
  if (more[claims.issuer.claims.user] !== claims.subject) return claims;
  return { ...claims, ...factsOf(claims.issuer, { ...claims.all, ...more }) };
}

function claimsOf(issuer: Issuer, payload: JWTPayload, now: number): Claims {
  const subject = identifierIn(payload, issuer.claims.user);
  if (subject === '' || subject.length > 255 || payload.exp === undefined) throw invalid();
  const { auth_time: authenticated, iat = 0 } = payload;
  // A token that was issued in the future is forged.
  if (iat > now / 1000 + toleranceSeconds) throw invalid();
  const signedIn = typeof authenticated === 'number' ? authenticated : iat;
  return {
    issuer,
    subject,
    ...(issuer.kind === 'embedded' ? ownClaims(payload) : {}),
    ...factsOf(issuer, payload),
    signedInAt: Math.min(signedIn * 1000, now),
    expiresAt: (payload.exp + toleranceSeconds) * 1000,
    all: payload,
  };
}

/** Returns the claims that only this server's own tokens have. Tokens of a server one release older lack both. */
function ownClaims(payload: JWTPayload): Pick<Claims, 'account' | 'grant'> {
  const [account, grant] = [textIn(payload, 'account'), textIn(payload, 'grant')];
  return { ...(account === '' ? {} : { account }), ...(grant === '' ? {} : { grant }) };
}

function factsOf(
  { claims: names, trustsEmail }: Issuer,
  all: Claims['all'],
): Pick<Claims, 'email' | 'emailVerified' | 'name' | 'domain'> {
  const email = identifierIn(all, names.email);
  return {
    email,
    emailVerified: email !== '' && (trustsEmail || isTrue(all['email_verified'])),
    // The cut may leave half of a surrogate pair.
    name: withoutUnstorable(textIn(all, names.name).slice(0, 255)),
    domain: textIn(all, names.domain).toLowerCase(),
  };
}

/** Some issuers write the claim as a string. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}

/** Returns a claim as text, without the characters that the database cannot store. */
function textIn(all: Claims['all'], name: string): string {
  return withoutUnstorable(rawText(all, name)).trim();
}

/**
 * Returns a claim that tells people apart. Throws when it has characters that the database cannot store: without them
 * it could be the claim of another person.
 */
function identifierIn(all: Claims['all'], name: string): string {
  const text = rawText(all, name);
  if (isStorable(text)) return text;
  throw new Unauthenticated(
    `token invalid: its claim \`${name}\` contains U+0000 or half of a surrogate pair; correct it at the identity provider`,
  );
}

function rawText(all: Claims['all'], name: string): string {
  const value = all[name];
  return typeof value === 'string' ? value.trim() : '';
}

function invalid(): Unauthenticated {
  return new Unauthenticated('token invalid');
}
