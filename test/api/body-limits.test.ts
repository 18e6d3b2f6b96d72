import { expect, it } from 'vitest';
import { sharedApi } from './setup.ts';

const shared = sharedApi();

/** Sends JSON text without credentials. */
async function sendAnonymously(url: string, payload: string) {
  const headers = { 'content-type': 'application/json' };
  const answer = await shared().app.inject({ method: 'POST', url, headers, payload });
  return { status: answer.statusCode, message: String(answer.json().message) };
}

it.each(['/api/setup', '/api/users/invites/nbi_none/accept', '/agent/challenge'])(
  'POST %s accepts a body of at most 16 KiB, because it needs no credentials',
  async (url) => {
    const { status, message } = await sendAnonymously(url, JSON.stringify({ name: 'x'.repeat(16 * 1024) }));
    expect([status, message]).toEqual([413, 'the body is too large; send at most 16 KiB to this path']);
    expect((await sendAnonymously(url, JSON.stringify({ name: 'x'.repeat(15 * 1024) }))).status).not.toBe(413);
  },
);

it.each([
  ['/agent/enrol', 256 * 1024, '256 KiB'],
  ['/api/groups', 1024 * 1024, '1 MiB'],
  ['/agent/traffic', 4 * 1024 * 1024, '4 MiB'],
  ['/api/config/plans', 64 * 1024 * 1024, '64 MiB'],
])('POST %s names its own limit when a body is larger', async (url, most, text) => {
  const { status, body } = await shared().call('POST', url, '"'.padEnd(most + 1, 'x'));
  expect([status, body.message]).toEqual([413, `the body is too large; send at most ${text} to this path`]);
});

const deep = (levels: number) => `{"name":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

it.each(['/api/setup', '/agent/enrol'])('POST %s refuses a body of more than 100 levels', async (url) => {
  for (const text of [deep(101), '['.repeat(5000)]) {
    const { status, message } = await sendAnonymously(url, text);
    expect([status, message]).toEqual([400, expect.stringContaining('nests more than 100 levels deep')]);
  }
  expect((await sendAnonymously(url, deep(100))).message).not.toContain('levels deep');
});

it('a body is refused that has more values than its size justifies', async () => {
  const send = (url: string, text: string) => shared().call('POST', url, text);
  const many = `{"name":"a","peers":[${'[],'.repeat(200_000)}[]]}`;
  for (const url of ['/api/groups', '/api/config/plans'])
    expect(await send(url, many)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^the body has more than \d+ values/) },
    });
  const peers = Array.from({ length: 40_000 }, (_, at) => `peer-${at}`.padEnd(20, '-'));
  expect((await send('/api/groups', JSON.stringify({ name: 'a', peers }))).status).toBe(422);
});
