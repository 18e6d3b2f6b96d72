import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stepAt, totpCode } from '../../src/features/auth/provider/totp.ts';
import { runHere } from '../cli/collect.ts';
import { openBrowser } from './browser.ts';
import { idpScene } from './idp-scene.ts';

const scene = idpScene();
const password = 'correct horse battery';
const email = 'ana@example.com';

let browser: Browser;
let context: BrowserContext;
let page: Page;
const asked: string[] = [];

beforeAll(async () => {
  browser = await openBrowser();
  // Scripts are disabled, because the pages must work without them.
  context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 900, height: 900 } });
  page = await context.newPage();
  page.on('request', (request) => asked.push(new URL(request.url()).origin));
  await scene().person(email, password);
});
afterAll(() => browser?.close());

beforeEach(() => context.clearCookies());

/**
 * Runs a command as the signed-in person. `shown` resolves with the first group of `shows` as soon as the output for
 * people matches.
 */
function heddle(argv: readonly string[], shows = /$^/) {
  let text = '';
  let report: (match: string) => void = () => {};
  const shown = new Promise<string>((resolve) => {
    report = resolve;
  });
  const env = { HEDDLE_SERVER: scene().url, HEDDLE_CONFIG_DIR: scene().directory, HEDDLE_DATA_DIR: '/nowhere' };
  const note = (more: string) => {
    text += more;
    const [, match] = shows.exec(text) ?? [];
    if (match !== undefined) report(match);
  };
  const ran = runHere(argv, env, { note }).then((result) => ({ ...result, note: text }));
  return { ran, shown };
}

const loginsFile = () => join(scene().directory, 'logins.json');

async function storedLogin() {
  const { servers } = JSON.parse(await readFile(loginsFile(), 'utf8'));
  return servers[scene().url];
}

async function typeAndEnter(...texts: readonly string[]): Promise<void> {
  for (const [at, text] of texts.entries()) {
    if (at > 0) await page.keyboard.press('Tab');
    await page.keyboard.type(text);
  }
  await page.keyboard.press('Enter');
}

describe('a person with only a keyboard and a browser without scripts', () => {
  it('signs in by `heddle login`, makes a token on the account page, and uses it at the API and with `heddle plan`', async () => {
    const { ran, shown } = heddle(['login', '--no-browser'], /(http\S+\/oidc\/auth\S+)\n/);
    await page.goto(await shown);
    await expect.poll(() => page.title()).toBe('Sign in – Heddle');
    expect(await page.locator('main').ariaSnapshot()).toBe(
      [
        '- main:',
        '  - heading "Sign in" [level=1]',
        '  - paragraph: to continue to Heddle on the command line',
        '  - text: E-mail address',
        '  - textbox "E-mail address"',
        '  - text: Password',
        '  - textbox "Password"',
        '  - button "Sign in"',
        '  - group: Are you in several accounts?',
      ].join('\n'),
    );
    await typeAndEnter(email, 'not this one');
    await expect.poll(() => page.title()).toBe('Problem: Sign in – Heddle');
    expect(await page.getByRole('alert').textContent()).toBe('E-mail address or password is wrong.');
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
    // The password field has the focus.
    await typeAndEnter(password);
    await page.getByRole('heading', { name: 'Let Heddle on the command line act for you?' }).waitFor();
    expect(await page.locator('main').textContent()).toContain(`You are signed in as ana (${email}).`);
    // The button has the focus.
    await page.keyboard.press('Enter');
    await page.getByText('You are signed in. Continue in your terminal').waitFor();
    expect(await ran).toMatchObject({ code: 0, out: `Signed in to ${scene().url} as ${email}.\n` });
    expect((await stat(loginsFile())).mode & 0o777).toBe(0o600);

    await page.goto(`${scene().url}/signin/account`);
    await page.getByLabel('Name').focus();
    await typeAndEnter('laptop', '30');
    const token = (await page.locator('#made-token').textContent()) ?? '';
    expect(token).toMatch(/^nbp_\w{36}$/);
    expect(await page.getByRole('status').ariaSnapshot()).toContain('Copy your new token now.');
    expect(await page.getByRole('table', { name: 'Personal access tokens' }).ariaSnapshot()).toContain(
      'button "Delete the token laptop"',
    );
    const current = await scene().call('GET', '/api/users/current', undefined, `Token ${token}`);
    expect(await current.json()).toMatchObject({ email, status: 'active', is_current: true });
    const file = join(scene().directory, 'group.yaml');
    await writeFile(file, 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: visitors\nspec: {}\n');
    const planned = await heddle(['plan', file, '--source-name', 'team', '--token', token]).ran;
    expect(planned).toMatchObject({ code: 0, note: '' });
    expect(planned.out).toContain('Plan: 1 to create, 0 to change, 0 to delete.');
    // The browser requested nothing from other origins.
    expect(asked.filter((origin) => origin !== scene().url && !origin.startsWith('http://127.0.0.1:'))).toEqual([]);
  });

  it('runs commands under their own name afterwards, with tokens that are renewed when they expire', async () => {
    const before = await storedLogin();
    expect((await heddle(['status']).ran).code).toBe(0);
    expect(await storedLogin()).toEqual(before);
    const file = JSON.parse(await readFile(loginsFile(), 'utf8'));
    file.servers[scene().url].expiresAt = Date.now() - 1000;
    await writeFile(loginsFile(), JSON.stringify(file));
    // A refresh token can be used once. Commands that start at the same time must share one renewal.
    const codes = await Promise.all([heddle(['status']).ran, heddle(['status']).ran, heddle(['status']).ran]);
    expect(codes.map(({ code, note }) => [code, note])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ]);
    expect((await storedLogin()).refreshToken).not.toBe(before.refreshToken);
    const reported = await scene().sql<{ readonly initiator_email: string }>(
      "select initiator_email from audit_events where activity_code = 'dashboard.login'",
    );
    expect(reported).toEqual([{ initiator_email: email }]);
  });

  it('signs out, after which the server refuses the tokens', async () => {
    const { tokenEndpoint, refreshToken } = await storedLogin();
    expect((await heddle(['logout']).ran).out).toBe(`Signed out from ${scene().url}.\n`);
    const fields = { grant_type: 'refresh_token', client_id: 'heddle-cli', refresh_token: refreshToken };
    expect((await fetch(tokenEndpoint, { method: 'POST', body: new URLSearchParams(fields) })).status).toBe(400);
    expect(await heddle(['status']).ran).toMatchObject({
      code: 1,
      note: expect.stringContaining(`Run \`heddle login --server ${scene().url}\``),
    });
    expect((await heddle(['logout']).ran).out).toBe(`You are not signed in to ${scene().url}.\n`);
  });

  it('signs in a machine without a browser by `heddle login --device`, which reports when the sign-in ends', async () => {
    const { ran, shown } = heddle(['login', '--device'], /or open (\S+)\n/);
    await page.goto(await shown);
    expect(await page.getByLabel('Code').getAttribute('aria-describedby')).toBe('user_code-hint');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Is this your device?' }).waitFor();
    await page.getByRole('button', { name: 'The codes are the same' }).press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await typeAndEnter(email, password);
    await page.getByRole('heading', { name: /act for you/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Done' }).waitFor();
    expect(await ran).toMatchObject({ code: 0, out: `Signed in to ${scene().url} as ${email}.\n` });
    const [user] = await scene().sql<{ readonly id: string }>("select id from objects where spec->>'email' = $1", [
      email,
    ]);
    await scene().server.identityProvider?.endSessions(user?.id ?? '');
    const file = JSON.parse(await readFile(loginsFile(), 'utf8'));
    file.servers[scene().url].expiresAt = 0;
    await writeFile(loginsFile(), JSON.stringify(file));
    expect(await heddle(['status']).ran).toMatchObject({
      code: 1,
      note: expect.stringContaining(`Your sign-in at ${scene().url} has ended; run`),
    });
  });

  it('gets on each page one heading, a language, a label for every field and a layout that fits 320 pixels', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const visit = async () => {
      const markup = await page.content();
      expect(markup).toContain('<html lang="en">');
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      for (const input of await page.locator('input:not([type=hidden])').all())
        expect(await page.locator(`label[for="${await input.getAttribute('id')}"]`).count()).toBe(1);
      const width = await page.locator('body').evaluate((body) => body.scrollWidth);
      expect(width).toBeLessThanOrEqual(320);
    };
    await page.goto(`${scene().url}/signin/account`);
    await visit();
    await typeAndEnter('', '');
    await page.getByText('Enter your e-mail address.').waitFor();
    await visit();
    await typeAndEnter(email, password);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await visit();
    await page.getByRole('button', { name: 'Set up a second factor' }).press('Enter');
    await page.getByRole('img', { name: 'QR code of the secret below' }).waitFor();
    await visit();
    const secret = (await page.locator('#totp-secret').textContent()) ?? '';
    await page.getByLabel('Code', { exact: true }).fill(totpCode(secret, stepAt(Date.now())));
    await page.keyboard.press('Enter');
    await page.getByText('Save your recovery codes now.').waitFor();
    await visit();
    await page
      .getByLabel('Code', { exact: true })
      .fill((await page.locator('#recovery-codes li').first().textContent()) ?? '');
    await page.getByRole('button', { name: 'Switch it off' }).press('Enter');
    await page.getByText('The second factor is off.').waitFor();
    await visit();
    await page.goto(`${scene().url}/oidc/session/end`);
    await visit();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await visit();
    await page.goto(`${scene().url}/oidc/auth?client_id=nobody`);
    await visit();
  });
});
