import { describe, expect, test } from 'vitest';
import { absent, naming, service } from './service-resources.ts';

describe('a network resource that names a Service', () => {
  test('follows the Service, and keeps the last applied address while it is missing', async () => {
    const answers = [service('10.0.0.7'), absent, service('fd00::9')];
    const { address, touch, problems } = await naming(answers);
    await expect.poll(address).toBe('10.0.0.7/32');
    await touch('b');
    await expect.poll(problems).toMatchObject([
      {
        ...{ code: 'service_unresolved', path: '/spec/serviceRef', file: 'team-a/networkresources/wiki.json' },
        message: expect.stringContaining('the namespace team-a has no Service `wiki`; create it'),
      },
    ]);
    expect(await address()).toBe('10.0.0.7/32');
    await expect.poll(address).toBe('fd00::9/128');
    await expect.poll(problems).toEqual([]);
  });
});
