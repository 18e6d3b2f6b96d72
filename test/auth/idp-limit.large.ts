import { describe, expect, it } from 'vitest';
import { idpScene } from './idp-scene.ts';

describe('a server that refuses passwords (local_auth_disabled)', () => {
  const scene = idpScene({ localAuthDisabled: true, publicUrl: 'https://heddle.example.com' });

  it('rate-limits an address that makes many requests to the identity provider', async () => {
    const begin = async () => (await fetch(`${scene().url}/oidc/jwks`)).status;
    const statuses: number[] = [];
    for (let round = 0; round < 10; round++) statuses.push(...(await Promise.all(Array.from({ length: 80 }, begin))));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });
});
