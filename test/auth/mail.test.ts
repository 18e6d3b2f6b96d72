import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCredentials } from '../../src/db/accounts/credentials.ts';
import { inviteMail } from '../../src/features/auth/invite-mail.ts';
import { createLocalSignIn } from '../../src/features/auth/local-people.ts';
import { createMailer, type Mailer } from '../../src/features/auth/mail.ts';
import { callAs, callAsAnonymous, invitee, newestEvents, person, rowsOf } from '../api/people.ts';
import { problemsOf } from '../api/problems.ts';
import { type Answer, sharedApi, type TestApi, testApi } from '../api/setup.ts';
import { present } from '../setup/present.ts';

interface Received {
  readonly to: readonly string[];
  readonly text: string;
}

const received: Received[] = [];
const sink = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onAuth: ({ username, password }, _session, done) =>
    password === 'secret' ? done(null, { user: username }) : done(new Error('no')),
  onRcptTo: ({ address }, _session, done) =>
    address.startsWith('refused') ? done(Object.assign(new Error('no such box'), { responseCode: 550 })) : done(),
  onData(stream, session, done) {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    stream.on('end', () => {
      received.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: decode(text) });
      done();
    });
  },
});
const mailers: Mailer[] = [];
const mailerAt = (url: string): Mailer => {
  const mailer = createMailer({ url, from: 'Heddle <heddle@example.com>' });
  mailers.push(mailer);
  return mailer;
};
let port = 0;
let mailer: Mailer;
beforeAll(async () => {
  const listening = sink.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  // The address is an object, because the server listens on TCP.
  port = (listening.address() as AddressInfo).port;
  mailer = mailerAt(`smtp://heddle:secret@127.0.0.1:${port}/?ignoreTLS=true`);
});
afterAll(async () => {
  for (const one of mailers) one.close();
  await new Promise<void>((resolve) => sink.close(resolve));
});

/** Decodes quoted-printable. */
function decode(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

describe('a server with a mail server', () => {
  let current: () => Mailer = () => mailer;
  const localPeople = createLocalSignIn({
    mailer: { send: (mail) => current().send(mail), close: () => {} },
    publicUrl: () => 'https://heddle.example.com',
  });
  const api = sharedApi({ localPeople });

  it('sends new users an invite link that sets their password', async () => {
    const body = person({ name: 'Zoë' });
    const made = await api().call('POST', '/api/users', body);
    expect([made.status, made.body.password, made.headers['heddle-notice']]).toEqual([200, undefined, undefined]);
    const mail = received.at(-1);
    expect(mail?.to).toEqual([body.email]);
    expect(mail?.text).toContain('Hello Zoë,');
    expect(mail?.text).toContain('machine owner invites you');
    expect([...(await newestEvents(api(), 2))].sort()).toEqual([
      `user.create ${made.body.id}`,
      `user.invite ${made.body.id}`,
    ]);
    const [, token] = /https:\/\/heddle\.example\.com\/invite\/(nbi_\w{36})/.exec(mail?.text ?? '') ?? [];
    const accepted = await callAsAnonymous(api())('POST', `/api/users/invites/${token}/accept`, {
      password: 'my own words',
    });
    expect(accepted.status).toBe(200);
  });

  it('mails repeated invitations and invites', async () => {
    const { id, email } = (await api().call('POST', '/api/users', person())).body;
    const again = await api().call('POST', `/api/users/${id}/invite`);
    expect([again.status, again.headers['heddle-invite-link'], received.at(-1)?.to]).toEqual([200, undefined, [email]]);
    const invited = await api().call('POST', '/api/users/invites', invitee());
    expect(received.at(-1)?.text).toContain(`/invite/${invited.body.invite_token}`);
    expect(invited.headers['heddle-notice']).toBeUndefined();
    const renewed = await api().call('POST', `/api/users/invites/${invited.body.id}/regenerate`);
    expect(received.at(-1)?.text).toContain(`/invite/${renewed.body.invite_token}`);
  });

  it('verifies an address by the mailed link, and not by the token that the API returns', async () => {
    const proved = async (email: string) => (await findCredentials(api().engine.database, email))[0]?.proved;
    const accept = (token: string, proof?: string) =>
      api().call('POST', `/api/users/invites/${token}/accept`, { password: 'correct horse', proof: proof ?? 'x.y' });
    const mailed = () => present(/\/invite\/(nbi_\w+)#(\w+\.\w+)$/m.exec(String(received.at(-1)?.text)) ?? undefined);
    const shown = (await api().call('POST', '/api/users/invites', invitee())).body;
    const [, , foreign] = mailed();
    const invited = (await api().call('POST', '/api/users/invites', invitee())).body;
    const [, token = '', proof] = mailed();
    const user = (await api().call('POST', '/api/users', person())).body;
    const [, first = '', own] = mailed();
    for (const answer of [
      await accept(shown.invite_token, proof),
      await accept(token, proof),
      await accept(first, own),
    ])
      expect(answer.status).toBe(200);
    expect(foreign).not.toBe(proof);
    expect([await proved(shown.email), await proved(invited.email), await proved(user.email)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it.each(['owner', 'admin'])(
    'mails a link for an %s who sends it, which is valid after a handover to the user only if an owner sent it',
    async (by) => {
      await using own = await testApi('postgres', { localPeople });
      const create = async (role: string) => (await own.call('POST', '/api/users', person({ role }))).body.id;
      const sender = by === 'owner' ? own.call : await callAs(own, await create(by));
      const { id } = (await sender('POST', '/api/users', person())).body;
      expect((await sender('POST', `/api/users/${id}/invite`)).status).toBe(200);
      const accepted = await acceptAfterHandover(own, id);
      expect([accepted.status, problemsOf(accepted)]).toEqual(by === 'owner' ? [200, []] : [422, ['invite_void ']]);
    },
  );

  it('mails a link for an admin that is valid after a handover to the user if an owner sent one before', async () => {
    await using own = await testApi('postgres', { localPeople });
    const create = async (role: string) => (await own.call('POST', '/api/users', person({ role }))).body.id;
    const asAdmin = await callAs(own, await create('admin'));
    const id = await create('user');
    for (const _ of ['first', 'second']) expect((await asAdmin('POST', `/api/users/${id}/invite`)).status).toBe(200);
    expect((await acceptAfterHandover(own, id)).status).toBe(200);
  });

  /** An owner hands over the account to the user, who then accepts the newest invitation. */
  async function acceptAfterHandover(own: TestApi, id: string): Promise<Answer> {
    const [, token] = /\/invite\/(nbi_\w+)/.exec(String(received.at(-1)?.text)) ?? [];
    const handover = { role: 'owner', auto_groups: [], is_blocked: false };
    expect((await own.call('PUT', `/api/users/${id}`, handover)).status).toBe(200);
    const body = { password: 'my own words' };
    return await callAsAnonymous(own)('POST', `/api/users/invites/${token}/accept`, body);
  }

  it('creates nothing when the mail server rejects the address', async () => {
    const refused = await api().call('POST', '/api/users', person({ email: 'refused@example.com' }));
    expect([refused.status, problemsOf(refused)]).toEqual([422, ['email_refused /email']]);
    expect((await api().call('POST', '/api/users/invites', invitee({ email: 'refused@example.com' }))).status).toBe(
      422,
    );
    expect(await rowsOf(api(), 'invites', "email = 'refused@example.com'")).toBe(0);
    expect(await rowsOf(api(), 'object_keys', "value = 'refused@example.com'")).toBe(0);
  });

  it.each([
    ['is away', 'smtp://127.0.0.1:1', 'cannot be reached'],
    ['offers no TLS', () => `smtp://heddle:secret@127.0.0.1:${port}`, 'offers no TLS'],
    [
      'does not know it',
      () => `smtp://heddle:wrong-password@127.0.0.1:${port}/?ignoreTLS=true`,
      'rejects the user and password in HEDDLE_SMTP_URL',
    ],
  ])('creates nothing when the mail server %s, and reports it', async (_, url, why) => {
    const away = mailerAt(typeof url === 'string' ? url : url());
    current = () => away;
    const refused = await api().call('POST', '/api/users', person({ email: 'later@example.com' }));
    current = () => mailer;
    expect([refused.status, refused.body.message]).toEqual([503, expect.stringContaining(why)]);
    expect(refused.body.message).not.toContain('wrong-password');
    expect(await rowsOf(api(), 'object_keys', "value = 'later@example.com'")).toBe(0);
    expect(await rowsOf(api(), 'invites', "email = 'later@example.com'")).toBe(0);
  });

  it('sends no mail for a request that is refused', async () => {
    const { email } = (await api().call('POST', '/api/users', person())).body;
    const before = received.length;
    expect((await api().call('POST', '/api/users', person({ email }))).status).toBe(409);
    expect((await api().call('POST', '/api/users', person({ role: 'owner' }))).status).toBe(422);
    expect((await api().call('POST', '/api/users/invites', invitee({ email }))).status).toBe(409);
    expect(received.length).toBe(before);
  });
});

describe('the invitation mail', () => {
  it('is short, plain, and states what to do', () => {
    const { subject, text } = inviteMail({
      account: 'acc1',
      ...{ to: 'a@example.com', name: 'Ana', invitedBy: 'Ben', link: 'https://x/invite/nbi_1' },
      expiresAt: '2026-01-05T03:04:05.000Z',
    });
    expect(`${subject}\n\n${text}`).toBe(
      `You are invited to a private network

Hello Ana,

Ben invites you to a private network that is managed with Heddle.
Choose a password to join:

https://x/invite/nbi_1

The link is for you alone and works once, until 2026-01-05 03:04 UTC.
If you are a user of several accounts, or other accounts also use your address, sign in to the account acc1.
If you do not expect this invitation, you need not do anything.
`,
    );
  });

  it('contains no line break from a name', () => {
    const { text } = inviteMail({
      account: 'acc1',
      ...{ to: 'a@example.com', name: 'Ana\r\nBcc: x', invitedBy: 'Ben\u2028\u0007Co', link: 'l' },
      expiresAt: '2026-01-05T03:04:05.000Z',
    });
    expect(text.split('\n').slice(0, 3)).toEqual([
      'Hello Ana Bcc: x,',
      '',
      expect.stringMatching(/^Ben Co invites you/),
    ]);
  });
});
