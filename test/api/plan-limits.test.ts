import { describe, expect, it } from 'vitest';
import { createPlanLimit } from '../../src/api/rate-limit.ts';
import { limitPlanSize } from '../../src/plan/checks/size.ts';
import { office, planOn } from '../plan/steps.ts';
import { doc } from './documents.ts';
import { testApi } from './setup.ts';

const body = { source: 'team', files: [{ path: 'a.yaml', text: doc('Group', 'one', 'name: one') }] };

describe('plans of one account', () => {
  it('are limited per minute on every endpoint that plans, and other requests are not', async () => {
    await using own = await testApi('postgres', { planRateLimit: { perMinute: 1, burst: 4 } });
    const { id } = (await own.call('POST', '/api/config/plans', body)).body;
    await own.call('POST', '/api/config/validate', body);
    await own.call('POST', `/api/config/plans/${id}/apply`);
    await own.call('GET', `/api/config/plans/${id}/patch`);
    for (const [method, url] of [
      ['POST', '/api/config/plans'],
      ['POST', '/api/config/validate'],
      ['POST', '/api/config/apply'],
      ['POST', `/api/config/plans/${id}/apply`],
      ['GET', `/api/config/plans/${id}/patch`],
    ] as const) {
      const refused = await own.call(method, url, method === 'GET' ? undefined : body);
      expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(refused.body.message).toMatch(/^too many plans of this account: 1 a minute and 4 at once/);
    }
    expect((await own.call('GET', `/api/config/plans/${id}`)).status).toBe(200);
    expect((await own.call('POST', '/api/groups', { name: 'two' })).status).toBe(200);
  });

  it('are accepted again after some time, and each account has a separate limit', async () => {
    let now = 0;
    const limit = createPlanLimit({ perMinute: 60, burst: 2 }, () => now);
    const reply = { header: () => {} } as never;
    const ask = (account: string) => limit({ call: { account }, routeOptions: {} } as never, reply);
    await ask('a');
    await ask('a');
    await expect(ask('a')).rejects.toThrow('try again in 1 s');
    await ask('b');
    now = 1000;
    await ask('a');
    await expect(ask('a')).rejects.toThrow('too many plans');
  });
});

describe('a single plan', () => {
  it('is refused when it changes too many objects, with the advice to apply in parts', () => {
    const outcome = planOn(office, 'a', [
      ...[1, 2, 3].map((at) => ({
        ...{ kind: 'Group', metadata: { name: `g${at}` }, spec: {} },
        position: { file: 'a.yaml', line: at, index: at, pointer: '' },
      })),
    ]);
    expect(limitPlanSize(outcome, 3)).toBe(outcome);
    expect(limitPlanSize(outcome, 2)).toEqual({
      ok: false,
      problems: [
        {
          code: 'plan_too_large',
          message:
            'the plan changes 3 objects, and a plan may change at most 2; apply the documents in parts, by kinds or labels',
        },
      ],
    });
  });
});
