import { expect, test } from 'vitest';
import { createValuePolicy, parseGrant } from '../../src/model/schema/value-policy.ts';
import { present } from '../setup/present.ts';

const grant = present(parseGrant('own/k8s.team-a=env:HEDDLE_VALUE_A'));
const policy = createValuePolicy({
  grants: [grant],
  shareValues: true,
  operatorAccount: () => 'own',
  clusters: ['k8s'],
});
const use = (source: string, value: string, isPushed = false) =>
  policy.mayUse({ account: 'own', source, isPushed, value: `env:HEDDLE_VALUE_${value}` });

test("resources of a cluster may use only server values granted to their source, even in the operator's account", () => {
  expect(use('team', 'B')).toBe(true);
  expect(use('k8s.team-a', 'A')).toBe(true);
  expect(use('k8s.team-a', 'B')).toBe(false);
  expect(use('k8s.team-b', 'A')).toBe(false);
});

test('a push under the name of a namespace source may use no server values', () => {
  expect(use('team', 'B', true)).toBe(true);
  expect(use('k8s.team-a', 'A', true)).toBe(false);
});
