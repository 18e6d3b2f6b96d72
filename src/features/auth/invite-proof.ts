import type { Signer } from '../../model/declare/signing.ts';

/**
 * The proof in a mailed link, and nowhere else: accounts are shown the tokens of their invites, so that a token alone
 * does not prove who reads the mail of the address.
 */
export function inviteProof(signer: Signer, token: string): string {
  return `${signer.keyId}.${signer.sign(token)}`;
}

/** Whether the mailed link with this token was followed. */
export function isInviteProof(signer: Signer, token: string, proof: unknown): boolean {
  if (typeof proof !== 'string') return false;
  const [key = '', signature = ''] = proof.split('.');
  return signer.isGenuine(token, { key, signature }) === true;
}
