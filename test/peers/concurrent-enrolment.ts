import { describe, expect, it } from 'vitest';
import { testApi } from '../api/setup.ts';
import { newMachine, setupKey } from './machine.ts';

/** Declares the test of a key that allows `limit` machines, with which three times as many machines enrol at once. */
export function testKeyLimit(limit: number): void {
  describe('the concurrent enrolment of many machines', () => {
    it('accepts exactly as many machines as the key allows', async () => {
      await using own = await testApi();
      const key = (await setupKey(own, { usage_limit: limit }))['key'] ?? '';
      const answers = await Promise.all(
        Array.from({ length: 3 * limit }, () => newMachine(own).enrol({ setup_key: key })),
      );
      const statuses = answers.map(({ status }) => status);
      expect([
        statuses.filter((status) => status === 200).length,
        statuses.filter((status) => status === 403).length,
      ]).toEqual([limit, 2 * limit]);
      const peers = (await own.call('GET', '/api/peers')).body;
      expect(new Set(peers.map(({ ip }: { ip: string }) => ip)).size).toBe(limit);
      expect(new Set(peers.map(({ dns_label }: { dns_label: string }) => dns_label)).size).toBe(limit);
    });
  });
}
