import type { Signer } from '../../model/declare/signing.ts';

/**
 * Returns the proof that only a mailed link contains. Users of an account can see the tokens of its invites, so a token
 * alone does not prove that its holder reads the mail of the address.
 */
export function inviteProof(signer: Signer, token: string): string {
  return `${signer.keyId}.${signer.sign(token)}`;
}

/** Returns whether `proof` is the proof of the mailed link with this token. */
export function isInviteProof(signer: Signer, token: string, proof: unknown): boolean {
  if (typeof proof !== 'string') return false;
  const [key = '', signature = ''] = proof.split('.');
  return signer.verify(token, { key, signature }) === true;
}
