import type { Person } from './people.ts';

/** The audience of access tokens: the API of this server. */
export function audienceOf(publicUrl: string): string {
  return `${publicUrl}/api`;
}

/** Who signs tokens. */
export function issuerOf(publicUrl: string): string {
  return `${publicUrl}/oidc`;
}

/**
 * The scopes of tokens for the API. They say what the token was requested for; the role decides what the user may do.
 */
export const apiScopes = 'api openid profile email offline_access';

/**
 * The claims of tokens about a person. An address that an owner entered is not verified before its person proves it.
 */
export function claimsOf({ id, email, emailProved, name }: Person) {
  return { sub: id, email, email_verified: emailProved, name };
}
