import { describe, expect, it } from 'vitest';
import { createMatcher } from '../../../src/features/integrations/endpoint-security/match.ts';
import {
  describeLoss,
  needsApproval,
  verdictOn,
} from '../../../src/features/integrations/endpoint-security/verdicts.ts';

interface Given {
  readonly serial?: string;
  readonly hostname?: string;
  readonly seenAt?: string;
}

/**
 * Returns the id of the device that matches the machine, or the reason why none does. The id of a device is its
 * position, from 1.
 */
function found(machine: Given, ...pages: readonly (readonly Given[])[]): string {
  const one = { peer: 'p', serial: '', hostname: '', ...machine };
  const { add, match } = createMatcher([one]);
  let count = 0;
  for (const page of pages)
    add(page.map((device) => ({ id: `${++count}`, serial: '', hostname: '', faults: [], ...device })));
  const result = match(one);
  return 'device' in result ? result.device.id : result.reason;
}

describe('the device of a machine', () => {
  it.each<readonly [string, Given, readonly Given[], string]>([
    [
      'has its serial number, whatever its hostname',
      { serial: 'S1', hostname: 'a' },
      [{ hostname: 'a' }, { serial: 's1 ' }],
      '2',
    ],
    [
      'has its hostname when none has its serial number',
      { serial: 'S1', hostname: 'a' },
      [{ serial: 'S2', hostname: 'A' }],
      '1',
    ],
    ['may have its hostname with a domain', { hostname: 'a' }, [{ hostname: 'a.corp.example.com' }], '1'],
    ['may have its hostname with what one maker puts behind it', { hostname: 'a.local' }, [{ hostname: 'a' }], '1'],
    [
      'is none of another domain',
      { hostname: 'a.x.example' },
      [{ hostname: 'a.y.example' }],
      'no device has the hostname `a.x.example`',
    ],
    [
      'is none of two with its hostname',
      { hostname: 'a' },
      [{ hostname: 'a' }, { hostname: 'a' }],
      '2 devices have the hostname `a`, and none has the serial number of the peer',
    ],
    [
      'is the newest of those with its serial number and hostname',
      { serial: 'S1', hostname: 'a' },
      [
        { serial: 'S1', hostname: 'a', seenAt: '2026-01-01' },
        { serial: 'S1', hostname: 'a', seenAt: '2026-02-01' },
        { serial: 'S1', hostname: 'b', seenAt: '2026-03-01' },
      ],
      '2',
    ],
    [
      'is none of two with its serial number and other hostnames',
      { serial: 'S1', hostname: 'a' },
      [
        { serial: 'S1', hostname: 'b' },
        { serial: 'S1', hostname: 'c' },
      ],
      '2 devices have the serial number `S1`, and none of them has the hostname `a`',
    ],
    [
      'is not found by a placeholder',
      { serial: 'To be filled by O.E.M.', hostname: 'a' },
      [{ serial: 'To Be Filled By O.E.M.', hostname: 'b' }],
      'no device has the hostname `a`',
    ],
    [
      'is not found by zeros',
      { serial: '0000000', hostname: '' },
      [{ serial: '0000000' }],
      'no device has a matching name: the peer reports neither a serial number nor a hostname',
    ],
  ])('%s', (_, machine, devices, text) => {
    expect(found(machine, devices)).toBe(text);
    // The boundaries of pages must make no difference.
    expect(found(machine, ...devices.map((device) => [device]))).toBe(text);
  });

  it('may be returned twice when pages shift while they are read', () => {
    const one = { peer: 'p', serial: '', hostname: 'a' };
    const { add, match } = createMatcher([one]);
    const device = { id: '1', serial: '', hostname: 'a', faults: [] };
    add([device]);
    add([device]);
    expect(match(one)).toEqual({ device });
  });
});

describe('the verdict on a device', () => {
  const settings = { product: 'vendor X', trustedHours: 24 };
  const now = Date.parse('2026-03-02T00:00:00Z');
  const on = (seenAt: string | undefined, ...faults: readonly string[]) =>
    verdictOn({ device: { id: '1', serial: '', hostname: '', seenAt, faults } }, settings, now);

  it('is empty for a compliant device that was seen in time, and names every fault otherwise', () => {
    expect(on('2026-03-01T00:00:00Z')).toBe('');
    expect(on('2026-02-28T23:59:59Z', 'one', 'two')).toBe(
      'vendor X: the device was last seen at 2026-02-28T23:59:59.000Z, more than 24 hours ago; one; two',
    );
    expect(on(undefined)).toBe('vendor X: it is not known when the device was last seen');
    expect(on('soon')).toBe('vendor X: it is not known when the device was last seen');
  });
});

describe('the number of devices that a sync found', () => {
  it.each<readonly [number, number | undefined, boolean]>([
    [0, undefined, true],
    [1, undefined, false],
    [80, 100, false],
    [79, 100, true],
    [0, 0, false],
    [500, 100, false],
  ])('%s after %s before needs an approval: %s', (count, known, expected) => {
    expect(needsApproval(count, known)).toBe(expected);
  });

  it('is reported with advice when it is zero', () => {
    expect(describeLoss('vendor X', 0, undefined)).toBe(
      'vendor X knows no devices, so every peer would be kept out; the earlier verdicts stay in effect; approve the sync if this is right',
    );
  });
});
