import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { listPublicKeys } from '../../src/features/integrations/notifications/webhook-keys.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { startReceiver } from './receiver.ts';
import { openPost } from './scene.ts';

/** The function that the documentation gives receivers for verifying webhooks. */
type Verify = (given: {
  readonly headers: object;
  readonly body: string;
  readonly keys: readonly { readonly key: string }[];
  readonly now?: number;
}) => boolean;

async function loadSnippet(): Promise<Verify> {
  const page = readFileSync('docs/integrations/notifications.md', 'utf8');
  const [, text = ''] = /<!-- file: verify\.mjs -->\n```js\n(.*?)\n```/s.exec(page) ?? [];
  const path = join(await temporaryDirectory(), 'verify.mjs');
  await writeFile(path, text);
  return (await import(pathToFileURL(path).href)).verify;
}

test('the verification code in the docs accepts what Heddle signed, and nothing else', async () => {
  const verify = await loadSnippet();
  const post = await openPost();
  const receiver = await startReceiver(post.keys);
  await post.channel({ target: { url: receiver.url } });
  post.run();
  await post.group('one');
  await expect.poll(() => receiver.accepted.length).toBe(1);
  const { headers, text: body } = present(receiver.accepted[0]);
  const keys = await listPublicKeys(post.engine, post.account);
  expect(verify({ headers, body, keys })).toBe(true);
  expect(verify({ headers, body: body.replace('one', 'two'), keys })).toBe(false);
  expect(verify({ headers: { ...headers, 'webhook-id': 'evt_other_1' }, body, keys })).toBe(false);
  expect(verify({ headers: { ...headers, 'webhook-signature': '' }, body, keys })).toBe(false);
  expect(verify({ headers, body, keys: [] })).toBe(false);
  expect(verify({ headers, body, keys, now: Date.now() / 1000 + 600 })).toBe(false);
  const foreign = { key: `whpk_${Buffer.alloc(32, 9).toString('base64')}` };
  expect(verify({ headers, body, keys: [foreign] })).toBe(false);
});
