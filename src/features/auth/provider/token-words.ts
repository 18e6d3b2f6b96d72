import type { Person } from './people.ts';

/** Whom access tokens are for: the API of this server. */
export function audienceOf(publicUrl: string): string {
  return `${publicUrl}/api`;
}

/** Who signs tokens. */
export function issuerOf(publicUrl: string): string {
  return `${publicUrl}/oidc`;
}

/** What may stand in a token for the API. It says what the token was asked for; what somebody may do there, their role says. */
export const apiScopes = 'api openid profile email offline_access';

/** What tokens say about a person. An address that an owner wrote down is verified by nobody before its person proves it. */
export function claimsOf({ id, email, emailProved, name }: Person) {
  return { sub: id, email, email_verified: emailProved, name };
}
