import { describe, expect, it } from 'vitest';
import { runHere } from '../cli/collect.ts';
import { idpScene } from './idp-scene.ts';
import { openSurfer } from './surfer.ts';

const email = 'ana@example.com';
const password = 'correct horse battery';

async function settings(scene: ReturnType<ReturnType<typeof idpScene>>) {
  const [account] = (await (await scene.call('GET', '/api/accounts')).json()) as {
    settings: Record<string, unknown>;
  }[];
  const { embedded_idp_enabled, local_auth_disabled } = account?.settings ?? {};
  return { embedded_idp_enabled, local_auth_disabled };
}

describe('a server that refuses passwords (local_auth_disabled)', () => {
  const scene = idpScene({ localAuthDisabled: true, publicUrl: 'https://heddle.example.com' });

  it('shows so in the settings and on the sign-in page, and refuses password forms', async () => {
    expect(await settings(scene())).toEqual({ embedded_idp_enabled: true, local_auth_disabled: true });
    await scene().person(email, password);
    const surfer = openSurfer(scene().url);
    const shown = await surfer.go('/signin/account');
    expect([shown.status, shown.title]).toEqual([403, 'Problem: Passwords are switched off here – Heddle']);
    const forms = shown.text.match(/<form/g);
    expect(forms).toBeNull();
    const sent = await surfer.forge(shown.url.pathname, { step: 'password', email, password });
    expect(sent.status).toBe(403);
  });

  it('uses its configured public URL regardless of client headers, and sets secure cookies for https', async () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
    const found = await fetch(`${scene().url}/oidc/.well-known/openid-configuration`, { headers });
    const { issuer, authorization_endpoint: endpoint } = (await found.json()) as Record<string, string>;
    expect([issuer, endpoint]).toEqual(['https://heddle.example.com/oidc', 'https://heddle.example.com/oidc/auth']);
    const cookies = (await fetch(`${scene().url}/oidc/device`, { headers })).headers.getSetCookie();
    expect(cookies.length).toBe(2);
    for (const cookie of cookies) expect(cookie).toMatch(/; secure;/);
  });
});

describe('a server without an identity provider (HEDDLE_IDP=off)', () => {
  const scene = idpScene({ idp: 'off' });

  it('has no sign-in pages, shows so in the settings, and `heddle login` states the alternative', async () => {
    expect(await settings(scene())).toEqual({ embedded_idp_enabled: false, local_auth_disabled: false });
    for (const path of ['/oidc/auth', '/oidc/jwks', '/signin/account'])
      expect((await fetch(`${scene().url}${path}`)).status).toBe(404);
    expect((await scene().call('POST', '/api/config/idp/rotate', undefined, `Bearer ${scene().operator}`)).status).toBe(
      412,
    );
    const env = { HEDDLE_SERVER: scene().url, HEDDLE_CONFIG_DIR: scene().directory };
    const { code, note } = await runHere(['login'], env);
    expect(code).toBe(1);
    expect(note).toContain('does not sign users in itself; make a token');
  });
});
