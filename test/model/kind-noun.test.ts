import { expect, it } from 'vitest';
import * as kinds from '../../src/kinds/index.ts';
import { nounOf } from '../../src/model/declare/kind-noun.ts';

it.each([
  ['Group', 'group'],
  ['SetupKey', 'setup key'],
  ['DNSRecord', 'DNS record'],
  ['MSPTenant', 'MSP tenant'],
  ['EdrVendorD', 'EDR vendor D'],
  ['ScimIntegration', 'SCIM integration'],
])('an object of the kind %s is called %s', (kind, noun) => {
  expect(nounOf(kind)).toBe(noun);
});

it('no two kinds have the same words, and none contains the colon that ends them in a list of users', () => {
  const nouns = Object.values(kinds).map(({ name }) => nounOf(name));
  expect(new Set(nouns).size).toBe(nouns.length);
  expect(nouns.filter((noun) => noun.includes(':'))).toEqual([]);
});
