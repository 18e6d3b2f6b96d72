import { readPublicKey } from '../../../lib/public-key.ts';
import { Unauthenticated } from '../../../model/errors.ts';
import { isSigned } from './keys.ts';
import { type ProofClaims, type ProvenRequest, proofText } from './proof-text.ts';

/** Maximum difference between the clocks of a peer and the server, in milliseconds. */
const maxClockSkewMs = 60_000;

/** A proof that is valid except for its nonce. The caller must check that the nonce was not used before. */
export interface Proof extends ProofClaims {
  /** Time after which the nonce need not be remembered, in ISO 8601. */
  readonly expires: string;
}

/** Checks that the key signed exactly this request within the allowed clock difference. Throws `Unauthenticated`. */
export function checkProof(header: string | undefined, request: ProvenRequest, now: number): Proof {
  const { key, time, nonce, signature } = readHeader(header);
  const at = Date.parse(time);
  if (Number.isNaN(at)) throw new Unauthenticated('the time of the proof is not valid; write it as ISO 8601 in UTC');
  const off = at - now;
  if (Math.abs(off) > maxClockSkewMs) {
    const seconds = Math.round(Math.abs(off) / 1000);
    throw new Unauthenticated(
      `the proof is from ${time}, ${seconds} s ${off > 0 ? 'ahead of' : 'behind'} the clock of the server (${new Date(now).toISOString()}); set the clock of the machine`,
    );
  }
  if (!isSigned(proofText({ key, time, nonce }, request), key, signature))
    throw new Unauthenticated('the proof does not match: it signs another request, or was signed with another key');
  return { key, time, nonce, expires: new Date(at + 2 * maxClockSkewMs).toISOString() };
}

function readHeader(header: string | undefined): ProofClaims & { readonly signature: string } {
  if (header === undefined || header === '')
    throw new Unauthenticated('no proof: sign the request with the key of the peer and send it as `Heddle-Proof`');
  const parts = new Map(header.split(',').map((part) => split(part.trim())));
  const key = readPublicKey(parts.get('key') ?? '');
  const [time = '', nonce = '', signature = ''] = ['time', 'nonce', 'signature'].map((name) => parts.get(name));
  const isSound = /^[\w-]{22}$/.test(nonce) && /^[\w-]{86}$/.test(signature);
  if (key === undefined || time === '' || !isSound)
    throw new Unauthenticated(
      'the proof is malformed; write `key=…, time=…, nonce=…, signature=…` with base64url of 32, 16 and 64 bytes',
    );
  return { key, time, nonce, signature };
}

function split(part: string): readonly [string, string] {
  const at = part.indexOf('=');
  return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
}
