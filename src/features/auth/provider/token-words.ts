import type { Person } from './people.ts';

/** Returns the audience of access tokens: the API of this server. */
export function audienceOf(publicUrl: string): string {
  return `${publicUrl}/api`;
}

/** Returns the issuer of tokens. */
export function issuerOf(publicUrl: string): string {
  return `${publicUrl}/oidc`;
}

/**
 * Scopes of tokens for the API. They state what the token was requested for, but the role decides what the user may do.
 */
export const apiScopes = 'api openid profile email offline_access';

/**
 * Returns the claims of tokens about a person. An address that an owner entered counts as unverified until the person
 * proves it.
 */
export function claimsOf({ id, email, emailProved, name }: Person) {
  return { sub: id, email, email_verified: emailProved, name };
}
