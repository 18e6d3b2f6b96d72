import type { PlanEnvironment } from '../../../model/declare/plan-environment.ts';
import { Unauthenticated } from '../../../model/errors.ts';
import { openValue, type SealedTextType, sealValue } from './sealed.ts';

const sealedTextType: SealedTextType = { prefix: 'nba_', purpose: 'session' };
const lifetimeMs = 3_600_000;

/** Content of a session. It is useless without the signing key that it is bound to. */
export interface Session {
  readonly account: string;
  readonly peer: string;
  /** Public signing key of the peer. */
  readonly key: string;
}

/** A session as the peer receives it. */
export interface IssuedSession {
  readonly token: string;
  readonly expires_at: string;
}

/** Issues a session. The server stores nothing: the token is the sealed session. */
export function issueSession({ vault, random }: PlanEnvironment, session: Session, now: number): IssuedSession {
  const expires_at = new Date(now + lifetimeMs).toISOString();
  const id = Buffer.from(random(8)).toString('base64url');
  return { token: sealValue(vault, sealedTextType, { ...session, id, until: expires_at }), expires_at };
}

/** Reads the session of an `Authorization: Peer …` header. Throws `Unauthenticated`. */
export function readSession({ vault }: PlanEnvironment, header: string | undefined, now: number): Session {
  const [, token = ''] = /^peer +(\S+)$/i.exec((header ?? '').trim()) ?? [];
  if (token === '') throw new Unauthenticated('no session: log in, and send `Authorization: Peer <token>`');
  const session = openValue(vault, sealedTextType, token);
  if (session === undefined) throw new Unauthenticated('the session was not issued by this server; log in again');
  if (Date.parse(String(session['until'])) < now)
    throw new Unauthenticated(`the session ended at ${String(session['until'])}; log in again`);
  return { account: String(session['account']), peer: String(session['peer']), key: String(session['key']) };
}
