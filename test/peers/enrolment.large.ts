import { describe, expect, it } from 'vitest';
import { doc } from '../api/documents.ts';
import { apiOn, testApi } from '../api/setup.ts';
import { testKeyLimit } from './concurrent-enrolment.ts';
import { newMachine, setupKey } from './machine.ts';

testKeyLimit(100);

describe('the concurrent enrolment of many machines', () => {
  it('E99 waits for a large apply on another server, and then succeeds', async () => {
    await using own = await testApi();
    const { engine } = own;
    await using other = await apiOn(engine.database, async () => undefined, { vault: engine.planEnvironment.vault });
    const key = (await setupKey(own))['key'] ?? '';
    const text = Array.from({ length: 2000 }, (_, at) => doc('Group', `g${at}`, `name: Group ${at}`)).join('---\n');
    const applying = other.call('POST', '/api/config/apply', { source: 's', files: [{ path: 'groups.yaml', text }] });
    const enrolments = Promise.all(Array.from({ length: 20 }, () => newMachine(own).enrol({ setup_key: key })));
    const [applied, enrolled] = await Promise.all([applying, enrolments]);
    expect([applied.status, applied.body.plan.counts.create]).toEqual([200, 2000]);
    expect(enrolled.map(({ status }) => status)).toEqual(enrolled.map(() => 200));
    expect((await other.call('GET', '/api/peers')).body).toHaveLength(20);
    expect((await own.call('GET', '/api/groups')).body.length).toBeGreaterThan(2000);
  });
});
