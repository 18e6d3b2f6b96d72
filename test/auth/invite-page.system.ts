import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { invitee } from '../api/people.ts';
import { sharedApi } from '../api/setup.ts';
import { openBrowser } from './browser.ts';

const api = sharedApi();
let base = '';
let browser: Browser;
let page: Page;
const asked = new Set<string>();
const complaints: string[] = [];

beforeAll(async () => {
  base = await api().app.listen({ host: '127.0.0.1', port: 0 });
  browser = await openBrowser();
  page = await browser.newPage();
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  page.on('console', (message) => complaints.push(message.text()));
});
afterAll(() => browser?.close());

const heading = () => page.getByRole('heading').textContent();

it('a person with only a keyboard accepts an invite on its page, once', async () => {
  const invited = invitee({ name: 'Zoë <b>' });
  const { invite_token: token } = (await api().call('POST', '/api/users/invites', invited)).body;
  await page.goto(`${base}/invite/${token}`);
  await page.getByText('machine owner invites you, Zoë <b>, to a private network').waitFor();
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(invited['email']);
  // The password field has the focus.
  await page.keyboard.type('correct horse');
  await page.keyboard.press('Tab');
  await page.keyboard.type('correct hors');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('alert').textContent()).toBe('The two passwords differ; type the same one twice.');
  await page.keyboard.type('e');
  await page.keyboard.press('Enter');
  await page.getByText('From now on you sign in as').waitFor();
  expect(await heading()).toBe('Welcome');
  expect(await page.getByRole('link', { name: 'Sign in' }).getAttribute('href')).toBe('/signin/account');
  const made = (await api().call('GET', '/api/users')).body.find(({ email }: JsonObject) => email === invited['email']);
  expect(made).toMatchObject({ status: 'active', name: 'Zoë <b>' });
  expect([[...asked], complaints]).toEqual([[base], []]);
  await page.reload();
  await page.getByText('invite not found').waitFor();
  expect(await heading()).toBe('This invitation does not work');
});
