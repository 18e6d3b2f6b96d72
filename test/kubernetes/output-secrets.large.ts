import { describe, expect, test } from 'vitest';
import { sha256Base64 } from '../../src/lib/node-pure.ts';
import { listOf } from './conversation.ts';
import { absent, forbidden, keys, made, named, spec, status, withKey, writing } from './output-keys.ts';
import { group, groups, resource } from './scripted-cluster.ts';

describe('the output Secret of a setup key', () => {
  test('is not overwritten when it is a foreign Secret, and the value waits until the name is free', async () => {
    const foreign = {
      body: { metadata: { name: 'enrol', uid: 'u', resourceVersion: '1' }, data: { password: 'eA==' } },
    };
    const { shown, written, unread, server, value } = await writing(withKey([foreign], [made]));
    await expect.poll(shown).toMatchObject({
      problems: [{ code: 'output_secret_taken', path: '/metadata/annotations/heddle.dev~1output-secret' }],
      conditions: [
        { type: 'Ready', status: 'False', reason: 'OutputNotWritten' },
        { status: 'False' },
        { type: 'Stalled', status: 'True' },
        {},
        {},
      ],
    });
    expect([written(), await unread()]).toEqual([[], 1]);
    server.turnTo(withKey([absent], [made]));
    server.say(groups, { type: 'ADDED', object: group('b') });
    await expect.poll(value).toMatch(/^[0-9A-F-]{36}$/);
    await expect.poll(unread).toBe(0);
  });

  test('is written as soon as the server has the right to', async () => {
    const { shown, unread } = await writing(withKey([absent], [forbidden, made]));
    await expect.poll(shown).toMatchObject({
      problems: [
        {
          message: expect.stringMatching(
            /`enrol`: the API server answered 403: secrets is forbidden; it is tried again/,
          ),
        },
      ],
      conditions: [{ reason: 'OutputNotWritten' }, { type: 'Reconciling', status: 'True' }, {}, {}, {}],
    });
    await expect.poll(shown).toMatchObject({ outputSecret: 'enrol' });
    expect(await unread()).toBe(0);
  });

  test('is recognised as written when the answer to the write was lost', async () => {
    const { shown, written, kept, server, unread, value } = await writing(
      withKey([absent], [{ afterwards: 'cut', body: '{' }]),
    );
    await expect.poll(shown).toMatchObject({ problems: [{ code: 'output_secret_unwritten' }] });
    expect([written().length, await unread()]).toEqual([1, 1]);
    const first = value();
    server.turnTo(withKey([kept()], [forbidden], { [status]: withKey([], [])[status] ?? {} }));
    await expect.poll(unread).toBe(0);
    expect(value()).toBe(first);
    await expect.poll(shown).toMatchObject({ outputSecret: 'enrol' });
  });

  test('cannot be written again after it was deleted, and the resource reports so', async () => {
    const { shown, server } = await writing(withKey([absent], [made]));
    await expect.poll(shown).toMatchObject({ outputSecret: 'enrol' });
    server.say(groups, { type: 'ADDED', object: group('b') });
    await expect.poll(shown).toMatchObject({
      problems: [
        { code: 'output_secret_gone', message: expect.stringContaining('delete the resource and create it again') },
      ],
    });
  });

  test('is written with a new value after it was deleted if the key is renewed', async () => {
    const renewing = { ...named, 'heddle.dev/renew-before': '2h' };
    const others = { [keys]: { lists: [listOf([resource('SetupKey', 'ci', spec, 'team-a', renewing)], '100')] } };
    const { shown, written, value, key, server } = await writing(withKey([absent], [made], others));
    await expect.poll(shown).toMatchObject({ outputSecret: 'enrol' });
    const [first, id] = [value(), (await key())?.id];
    // The scripted API server keeps answering that the Secret does not exist, as if it had been deleted.
    server.say(groups, { type: 'ADDED', object: group('b') });
    await expect.poll(written).toHaveLength(2);
    expect(value()).not.toBe(first);
    expect(await key()).toMatchObject({ id, derived: { former: [{ key_hash: sha256Base64(first) }] } });
    expect(written()[1]).toMatchObject({
      metadata: { annotations: { 'heddle.dev/expires': (await key())?.derived['expires'] } },
    });
  });
});
