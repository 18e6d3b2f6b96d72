import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTokenVerifier, type TokenVerifier } from '../../src/features/auth/bearer.ts';
import { createExternalIssuer } from '../../src/features/auth/issuers.ts';
import { plainOutbound } from '../setup/outbound.ts';
import { audience, startProvider, type TestProvider } from './provider.ts';

let provider: TestProvider;
let bearer: TokenVerifier;
let now: () => number;

beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  now = Date.now;
  bearer = accepting();
});

/**
 * Returns a verifier that accepts tokens of the provider. It fetches the provider's keys again without a cooldown,
 * unless `cooldownMs` is set.
 */
function accepting(options: { readonly cooldownMs?: number; readonly maxKeyAgeMs?: number } = {}): TokenVerifier {
  const issuer = createExternalIssuer({
    issuer: provider.issuer,
    outbound: plainOutbound,
    audience: [audience],
    cooldownMs: 0,
    ...options,
  });
  return createTokenVerifier({ issuers: [issuer], now: () => now() });
}

const refusal = (token: string) =>
  bearer.verify(token).then(
    () => 'accepted',
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe('a signed token', () => {
  it('from the provider is accepted and yields the claims about the person', async () => {
    const claims = { email: ' Ana@Example.com', email_verified: true, name: 'Ana', hd: 'Example.com' };
    const verified = await bearer.verify(await provider.token('ana', claims));
    expect(verified).toMatchObject({ subject: 'ana', email: 'Ana@Example.com', emailVerified: true, name: 'Ana' });
    expect(verified.domain).toBe('example.com');
    expect(verified.expiresAt).toBeGreaterThan(Date.now());
  });

  it('has a verified address only when the provider states so', async () => {
    const proved = async (claims: Readonly<Record<string, unknown>>) =>
      (await bearer.verify(await provider.sign({ email: 'ana@example.com', ...claims }))).emailVerified;
    expect(await proved({})).toBe(false);
    expect(await proved({ email_verified: false })).toBe(false);
    expect(await proved({ email_verified: 'yes' })).toBe(false);
    expect(await proved({ email_verified: 'true' })).toBe(true);
  });

  it.each([
    ['sub', 'an\0a'],
    ['sub', 'ana\ud800'],
    ['email', 'ana\0@example.com'],
    ['email', 'ana@example.com\udc00'],
  ])('is refused when %s is %j, which cannot be stored', async (claim, value) => {
    expect(await refusal(await provider.sign({ [claim]: value }))).toBe(
      `Unauthenticated: token invalid: its claim \`${claim}\` contains U+0000 or half of a surrogate pair; correct it at the identity provider`,
    );
  });

  it('yields a name and a domain without characters that cannot be stored', async () => {
    const claims = { name: 'A\0na \ud83d', hd: 'exam\0ple.com' };
    expect(await bearer.verify(await provider.sign(claims))).toMatchObject({ name: 'Ana', domain: 'example.com' });
    // The limit of 255 characters falls between the two surrogates of the emoji.
    const long = await bearer.verify(await provider.sign({ name: `${'x'.repeat(254)}\u{1f600}` }));
    expect(long.name).toBe('x'.repeat(254));
  });

  it("is verified repeatedly with a single read of the provider's keys", async () => {
    const token = await provider.token('ana');
    const before = provider.keyReads();
    for (let count = 0; count < 50; count++) await bearer.verify(token);
    expect(provider.keyReads() - before).toBe(1);
  });

  it('is accepted until it expires, with five seconds of clock skew', async () => {
    const seconds = Math.floor(Date.now() / 1000);
    const token = await provider.sign({ exp: seconds + 60 });
    expect(await refusal(token)).toBe('accepted');
    now = () => (seconds + 64) * 1000;
    expect(await refusal(token)).toBe('accepted');
    now = () => (seconds + 66) * 1000;
    expect(await refusal(token)).toBe('Unauthenticated: token expired');
  });

  it('is refused when `iat` is in the future by more than the clock skew', async () => {
    const seconds = Math.floor(Date.now() / 1000);
    expect(await refusal(await provider.sign({ iat: seconds + 4, exp: seconds + 600 }))).toBe('accepted');
    expect(await refusal(await provider.sign({ iat: seconds + 60, exp: seconds + 600 }))).toBe(
      'Unauthenticated: token invalid',
    );
  });

  it('is accepted after the provider rotates its key; a token of the old key is refused', async () => {
    const old = await provider.sign({});
    const kept = await provider.sign({ jti: 'kept' });
    expect(await refusal(kept)).toBe('accepted');
    await provider.rotate();
    expect(await refusal(await provider.token('ana'))).toBe('accepted');
    expect(await refusal(old)).toBe('Unauthenticated: token invalid');
    expect(await refusal(kept)).toBe('Unauthenticated: token invalid');
  });
});

describe('token validation', () => {
  const invalid = 'Unauthenticated: token invalid';
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = () => ({ iss: provider.issuer, aud: audience, sub: 'ana', exp: Math.floor(Date.now() / 1000) + 300 });
  const cases: readonly (readonly [name: string, make: () => Promise<string> | string])[] = [
    ['without a signature', () => new UnsecuredJWT(claims()).encode()],
    ['of the algorithm none with a signature', () => `${part({ alg: 'none' })}.${part(claims())}.c2ln`],
    ['of the algorithm None', () => `${part({ alg: 'None' })}.${part(claims())}.`],
    [
      'signed with the public key as a secret',
      () => {
        const secret = new TextEncoder().encode(JSON.stringify(provider.publicKey()));
        const kid = provider.publicKey().kid ?? '';
        return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid }).sign(secret);
      },
    ],
    ['for somebody else', () => provider.sign({ aud: 'https://other.example.com' })],
    ['for nobody', () => provider.sign({ aud: [] })],
    ['of another issuer', () => provider.sign({ iss: 'https://evil.example.com' })],
    ['of an issuer that is written otherwise', () => provider.sign({ iss: `${provider.issuer}/` })],
    ['of the future', () => provider.sign({ nbf: Math.floor(Date.now() / 1000) + 60 })],
    [
      'that never ends',
      async () => {
        const { exp: _, ...endless } = claims();
        return provider.sign({ ...endless, exp: undefined } as never);
      },
    ],
    ['without a person', () => provider.sign({ sub: '' })],
    ['with a person of another type', () => provider.sign({ sub: 7 } as never)],
    ['that names a key the provider has not', () => provider.sign({}, { kid: 'key-99' })],
    ['that names a file as its key', () => provider.sign({}, { kid: '../../../../dev/null' })],
    [
      'that brings its own key',
      async () => {
        const { publicKey, privateKey } = await generateKeyPair('ES256');
        const jwk = await exportJWK(publicKey);
        return new SignJWT(claims())
          .setProtectedHeader({ alg: 'ES256', jwk, jku: 'https://evil.example.com/jwks' })
          .sign(privateKey);
      },
    ],
    [
      'of a stranger who knows the name of the key',
      async () => {
        const { privateKey } = await generateKeyPair('RS256');
        const kid = provider.publicKey().kid ?? '';
        return new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
      },
    ],
    [
      'that wants an extension nobody knows',
      () => `${part({ alg: 'RS256', crit: ['x'], x: 1 })}.${part(claims())}.c2ln`,
    ],
    ['that is very long', () => provider.sign({ filler: 'x'.repeat(20_000) })],
    ['that is none', () => 'abc.def.ghi'],
    ['of two parts', () => 'abc.def'],
  ];

  it.each(cases)('refuses as invalid a token %s', async (_, make) => {
    expect(await refusal(await make())).toBe(invalid);
  });

  it('refuses an expired token with a separate message', async () => {
    const token = await provider.sign({ exp: Math.floor(Date.now() / 1000) - 60 });
    expect(await refusal(token)).toBe('Unauthenticated: token expired');
  });

  it("refuses tokens with unknown keys without reading the provider's keys each time", async () => {
    bearer = accepting({ cooldownMs: 60_000 });
    await bearer.verify(await provider.token('ana'));
    const before = provider.keyReads();
    for (let count = 0; count < 20; count++) await refusal(await provider.sign({ count }, { kid: `guess-${count}` }));
    expect(provider.keyReads() - before).toBe(0);
  });
});

describe('an unusable identity provider', () => {
  it('that is down leaves tokens with known keys valid; for other keys it is reported as unavailable', async () => {
    bearer = accepting({ maxKeyAgeMs: 0 });
    await bearer.verify(await provider.token('ana'));
    const [known, unknown] = [await provider.sign({}), await provider.sign({}, { kid: 'not-read-yet' })];
    await provider.stop();
    expect(await refusal(known)).toBe('accepted');
    const away = `Unavailable: the identity provider ${provider.issuer} does not provide keys to verify tokens`;
    expect(await refusal(unknown)).toContain(away);
    bearer = accepting();
    expect(await refusal(known)).toContain(away);
    await provider.start();
    expect(await refusal(known)).toBe('accepted');
  });

  it('with another issuer in its discovery document is reported and its tokens are refused', async () => {
    const issuer = createExternalIssuer({
      issuer: provider.issuer.replace('127.0.0.1', 'localhost'),
      outbound: plainOutbound,
      audience: [audience],
    });
    bearer = createTokenVerifier({ issuers: [issuer], now: Date.now });
    expect(await refusal(await provider.sign({ iss: issuer.issuer }))).toContain(
      'its discovery document names the issuer',
    );
  });
});
