import { describe, expect, it } from 'vitest';
import { rowsOf } from '../commit/office.ts';
import { backUp, changedSinceBackup, everything, exported, furnished, keys, sendBack } from './archive-setup.ts';
import { testApi } from './setup.ts';

describe('POST /api/config/restore by an owner', () => {
  it('restores the objects of the account as one revision, and continues the history', async () => {
    await using api = await furnished();
    const { archive, documentsThen, then, now } = await changedSinceBackup(api);
    expect(await sendBack(api, archive)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(`--replace ${api.account}`) },
    });
    expect((await sendBack(api, archive, '?replace=other')).status).toBe(422);
    const answer = await sendBack(api, archive, `?replace=${api.account}`);
    expect(answer).toMatchObject({ status: 200, body: { account: api.account, restored: then, revision: now + 1 } });
    // A setup key that was deleted since the backup does not admit peers again, so setup keys are not compared. All
    // other documents are as in the backup.
    const names = (text: string) => text.split('---\n').filter((one) => !one.includes('kind: SetupKey'));
    expect(names(await exported(api))).toEqual(names(documentsThen));
    expect((await api.call('GET', `/api/config/revisions/${now}`)).status).toBe(200);
    expect((await sendBack(api, archive, `?replace=${api.account}`)).body).toMatchObject({
      revision: now + 1,
      rows: 0,
    });
  });

  it('restores objects only: users, tokens, identities, the directory and the creation time stay unchanged', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    const kept = ['accounts', 'tokens', 'credentials', 'identities', 'invites', 'directory'] as const;
    const user = { email: 'ada@example.com', name: 'Ada', role: 'admin', auto_groups: [], is_service_user: false };
    await api.call('POST', '/api/users', user);
    const owner = (await api.call('GET', '/api/users/current')).body.id;
    await api.call('POST', `/api/users/${owner}/tokens`, { name: 'later', expires_in: 30 });
    const rows = async () =>
      Promise.all(
        kept.map((table) =>
          rowsOf(
            api.engine.database,
            `select to_jsonb(t) - 'last_used' - 'revision' - 'audit_sequence' as row from ${table} t order by 1`,
          ),
        ),
      );
    const before = await rows();
    expect((await sendBack(api, archive, `?replace=${api.account}`)).status).toBe(200);
    expect(await rows()).toEqual(before);
    const users = (await api.call('GET', '/api/users')).body;
    expect(users.map(({ email }: { email: string }) => email)).toContain('ada@example.com');
  });

  it('refuses the archive of another account, even on an unused server', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    const before = await everything(other);
    for (const query of ['', `?replace=${other.account}`, `?replace=${api.account}`]) {
      const answer = await sendBack(other, archive, query);
      expect([answer.status, answer.body['message']]).toEqual([
        409,
        expect.stringContaining('heddle operator restore'),
      ]);
    }
    expect(await everything(other)).toBe(before);
  });

  it('accepts at most 64 MiB and one request at a time, and counts each as a plan', async () => {
    await using api = await testApi('postgres', { planRateLimit: { perMinute: 1, burst: 5 } });
    const large = await sendBack(api, Buffer.alloc(64 * 1024 * 1024 + 1));
    expect(large.status).toBe(413);
    const archive = await backUp(api);
    const query = `?replace=${api.account}`;
    const answers = await Promise.all([sendBack(api, archive, query), sendBack(api, archive, query)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429]);
    expect(answers.map(({ body }) => body['message'])).toContainEqual(
      expect.stringContaining('a restore of this account is under way'),
    );
    // Neither a refused restore nor a failed one blocks the next.
    expect((await sendBack(api, Buffer.from('none'))).status).toBe(422);
    expect((await sendBack(api, archive, query)).status).toBe(200);
    const many = await sendBack(api, archive, query);
    expect([many.status, many.body['message']]).toEqual([429, expect.stringContaining('too many plans')]);
  });

  it('refuses an uncompressed body with 422', async () => {
    await using api = await testApi();
    const answer = await api.call('POST', '/api/config/restore', { hello: 'world' });
    expect(answer.status).toBe(422);
  });
});
