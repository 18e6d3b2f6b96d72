import { describe, expect, it } from 'vitest';
import { idpScene } from './idp-scene.ts';

const scene = idpScene();

async function begin(fields: Readonly<Record<string, string>> = {}, path = '/oidc/device/auth') {
  const body = new URLSearchParams({ client_id: 'heddle-cli', scope: 'openid', ...fields });
  const answer = await fetch(`${scene().url}${path}`, { method: 'POST', body });
  const { error } = (await answer.json()) as { readonly error?: string };
  return { status: answer.status, error, retryAfter: Number(answer.headers.get('retry-after')) };
}

const stored = () =>
  scene().sql<{ readonly size: number }>(
    "select length(payload) as size from idp_records where model = 'DeviceCode' order by size",
  );

describe('device sign-ins that one address begins', () => {
  it('are limited to five at once however the path is spelled, and long ones are refused', async () => {
    for (const name of ['login_hint', 'nonce', 'ui_locales'])
      expect(await begin({ [name]: 'x'.repeat(4000) })).toMatchObject({ status: 400, error: 'invalid_request' });
    expect(await stored()).toEqual([]);
    expect((await begin()).status).toBe(200);
    expect((await begin({ login_hint: 'x'.repeat(3000) }, '/oidc/DEVICE/auth/')).status).toBe(200);
    for (const path of ['/oidc/device/auth', '/oidc/Device/Auth', '/oidc/device/auth/', '/oidc/device/auth?a=b']) {
      const refused = await begin({}, path);
      expect(refused).toMatchObject({ status: 429, error: 'temporarily_unavailable' });
      expect(refused.retryAfter).toBeGreaterThan(0);
    }
    const rows = await stored();
    expect(rows).toHaveLength(2);
    expect(rows.at(-1)?.size).toBeLessThan(8192);
    expect((await fetch(`${scene().url}/oidc/.well-known/openid-configuration`)).status).toBe(200);
  });
});
