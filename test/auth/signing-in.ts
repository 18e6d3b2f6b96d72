import { expect } from 'vitest';
import type { idpScene } from './idp-scene.ts';
import { openSurfer, pkce, type Surfer } from './surfer.ts';

export const callback = 'http://127.0.0.1:4711/callback';
export const password = 'correct horse battery';

/** Returns functions for the steps by which people, and programs on their behalf, sign in at the server of a scene. */
export function signingIn(scene: ReturnType<typeof idpScene>) {
  let people = 0;

  /** Creates a new person for a test, and opens a browser in which they can sign in. */
  async function visitor(more: Parameters<ReturnType<typeof scene>['person']>[2] = {}) {
    const email = `person-${++people}@example.com`;
    const id = await scene().person(email, password, more);
    return { email, id, surfer: openSurfer(scene().url) };
  }

  function authorization(challenge: string, more: Readonly<Record<string, string>> = {}): string {
    const query = { client_id: 'heddle-cli', response_type: 'code', scope: 'openid email', state: 's', ...more };
    const proof = { code_challenge: challenge, code_challenge_method: 'S256' };
    return `/oidc/auth?${new URLSearchParams({ redirect_uri: callback, ...proof, ...query })}`;
  }

  /** Signs the person in until the browser is redirected with a code. Returns the code. */
  async function codeFor(surfer: Surfer, email: string, challenge: string): Promise<string> {
    await surfer.go(authorization(challenge));
    await surfer.send({ step: 'password', email, password });
    const { url } = await surfer.send({ step: 'consent', answer: 'allow' });
    expect(url.origin + url.pathname).toBe(callback);
    return url.searchParams.get('code') ?? '';
  }

  // Tests look into answers member by member; a wrong member is `undefined` and fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  async function ask(path: string, fields: Readonly<Record<string, string>>): Promise<any> {
    const body = new URLSearchParams({ client_id: 'heddle-cli', ...fields });
    const answer = await fetch(`${scene().url}/oidc${path}`, { method: 'POST', body });
    return { status: answer.status, ...((await answer.json()) as object) };
  }

  function redeem(code: string, verifier: string, more: Readonly<Record<string, string>> = {}) {
    return ask('/token', {
      ...{ grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier, ...more },
    });
  }

  function refresh(token: string) {
    return ask('/token', { grant_type: 'refresh_token', refresh_token: token });
  }

  async function signedIn() {
    const person = await visitor();
    const { verifier, challenge } = pkce();
    const code = await codeFor(person.surfer, person.email, challenge);
    return { ...person, code, verifier, tokens: await redeem(code, verifier) };
  }

  /** Returns the status with which the API answers a request with this token. */
  async function api(token: string): Promise<number> {
    return (await scene().call('GET', '/api/users/current', undefined, `Bearer ${token}`)).status;
  }

  return { visitor, authorization, codeFor, ask, redeem, refresh, signedIn, api };
}

/** Returns the claims of a token. The signature is not verified. */
export function bodyOf(jwt: string) {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
}
