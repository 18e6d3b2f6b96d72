import { expect, it } from 'vitest';
import * as kinds from '../../src/kinds/index.ts';
import type { Fault } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { maxProblems } from '../../src/model/problem.ts';
import { otherFormatFaults } from '../../src/model/schema/validation/other-faults.ts';

const postureCheck = createRegistry(Object.values(kinds)).get('PostureCheck');
const missing: Fault = { code: 'field_required', path: '', message: '`description` is required; add it' };

const withRanges = (count: number) => ({
  checks: { peer_network_range_check: { action: 'allow', ranges: Array.from({ length: count }, () => '10.0.0.0/99') } },
});

it('a format fault is reported beside other faults, but not searched for among thousands of values or faults', () => {
  expect(otherFormatFaults(postureCheck.spec, withRanges(2), [missing])).not.toEqual([]);
  expect(otherFormatFaults(postureCheck.spec, withRanges(6000), [missing])).toEqual([]);
  expect(otherFormatFaults(postureCheck.spec, withRanges(900), [])).toHaveLength(900);
  expect(otherFormatFaults(postureCheck.spec, withRanges(6000), [])).toHaveLength(maxProblems + 1);
});
