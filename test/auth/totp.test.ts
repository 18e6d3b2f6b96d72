import { describe, expect, it } from 'vitest';
import { matchingStep, newTotpSecret, stepAt, totpCode, totpUri } from '../../src/features/auth/provider/totp.ts';

/** Secret of RFC 6238, appendix B, in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('the TOTP codes', () => {
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('are those of RFC 6238 at %s seconds', (seconds, code) => {
    expect(totpCode(secret, stepAt(seconds * 1000))).toBe(code);
  });

  it('match one step to either side and no further, with or without a space', () => {
    const time = 1_234_567_890_000;
    const now = stepAt(time);
    const typed = (step: number) => totpCode(secret, step).replace(/^.../, '$& ');
    const matched = [now - 2, now - 1, now, now + 1, now + 2].map((step) => matchingStep(secret, typed(step), time));
    expect(matched).toEqual([undefined, now - 1, now, now + 1, undefined]);
    expect(matchingStep(secret, '', time)).toBeUndefined();
  });

  it('come from unique secrets of 160 bits, with the URI that apps read', () => {
    const secrets = new Set(Array.from({ length: 50 }, newTotpSecret));
    expect(secrets.size).toBe(50);
    for (const one of secrets) expect(one).toMatch(/^[A-Z2-7]{32}$/);
    expect(totpUri(secret, 'ana@example.com')).toBe(
      `otpauth://totp/Heddle%3Aana%40example.com?secret=${secret}&issuer=Heddle&algorithm=SHA1&digits=6&period=30`,
    );
  });
});
