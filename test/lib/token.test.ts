import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWellFormedToken, makeToken, tokenRandomBytes } from '../../src/lib/token.ts';

const bytes = fc.uint8Array({ minLength: tokenRandomBytes, maxLength: tokenRandomBytes });

test.each(['nbp_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURp', 'nbp_9999EUDNdkeusjentDLSJEn1902u84390W6W'])(
  '%s, made by an existing client, is well formed',
  (token) => {
    expect(isWellFormedToken('nbp_', token)).toBe(true);
  },
);

test.each([
  ['another prefix', 'nbi_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURp'],
  ['a wrong checksum', 'nbp_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURq'],
  ['two characters swapped', 'nbp_paTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURp'],
  ['a character too many', 'nbp_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURpp'],
  ['a character too few', 'nbp_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMUR'],
  ['a foreign character', 'nbp_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI-gMURp'],
  ['a line break behind', 'nbp_apTmlmUXHSC4PKmHwtIZNaGr8eqcVI2gMURp\n'],
  ['nothing', ''],
])('a token with %s is not well formed', (_, token) => {
  expect(isWellFormedToken('nbp_', token)).toBe(false);
});

test('every generated token has 40 characters and is well formed', () => {
  fc.assert(
    fc.property(bytes, (random) => {
      const token = makeToken('nbp_', random);
      expect(token).toMatch(/^nbp_[0-9A-Za-z]{36}$/);
      expect(isWellFormedToken('nbp_', token)).toBe(true);
    }),
  );
});

test('a token depends on its random bytes, and fewer than 32 of them are refused', () => {
  const zero = new Uint8Array(tokenRandomBytes);
  const one = Uint8Array.from(zero, (_, index) => (index === 0 ? 1 : 0));
  expect(makeToken('nbp_', zero)).toMatch(/^nbp_0{30}/);
  expect(makeToken('nbp_', one)).not.toBe(makeToken('nbp_', zero));
  expect(() => makeToken('nbp_', new Uint8Array(8))).toThrow('32 random bytes');
});
