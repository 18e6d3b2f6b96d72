import { describe, expect, test } from 'vitest';
import { absent, holding, reading, withChannels } from './secret-channels.ts';

describe('a key of a Secret', () => {
  test('E120: is read again with each reconcile, and applied when it changed', async () => {
    const { header, touch, revision } = await reading(
      withChannels(['web'], [holding('Bearer first'), holding('Bearer first'), holding('Bearer second')]),
    );
    await expect.poll(() => header()).toBe('Bearer first');
    const before = await revision();
    await touch('b');
    expect([await header(), await revision()]).toEqual(['Bearer first', before + 1]);
    await touch('c');
    expect(await header()).toBe('Bearer second');
  });

  test('E121: keeps its resource from being applied while it is missing', async () => {
    const { office, header, problems } = await reading(withChannels(['web'], [absent, absent, holding('Bearer late')]));
    await expect.poll(office.groups).toEqual(['a']);
    await expect.poll(problems).toMatchObject([
      {
        ...{ code: 'secret_unset', file: 'team-a/notificationchannels/web.json', key: 'web' },
        path: '/spec/target/headers/Authorization/valueFrom',
        message: expect.stringContaining('the namespace team-a has no Secret `hook`; create it'),
      },
    ]);
    await expect.poll(() => header()).toBe('Bearer late');
    await expect.poll(problems).toEqual([]);
  });

  test('leaves the applied value in place when it is deleted', async () => {
    const { header, touch, problems } = await reading(withChannels(['web'], [holding('Bearer first'), absent]));
    await expect.poll(() => header()).toBe('Bearer first');
    await touch('b');
    await expect.poll(problems).toMatchObject([{ code: 'secret_unset' }]);
    expect(await header()).toBe('Bearer first');
  });

  test('E122: is in no log, status, event, revision or plan', async () => {
    const { office, server, runner, header, touch } = await reading(
      withChannels(['web'], [holding('Bearer verysecret'), holding('Bearer othersecret')]),
    );
    await expect.poll(() => header()).toBe('Bearer verysecret');
    await touch('b');
    await expect.poll(() => header()).toBe('Bearer othersecret');
    const tables = await office.rows(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const stored = await Promise.all(tables.map(({ name }) => office.rows(`select t::text as text from "${name}" t`)));
    expect(stored.flat().length).toBeGreaterThan(10);
    expect(JSON.stringify([stored, server.bodies, runner.reports])).not.toMatch(/verysecret|othersecret/);
  });
});
