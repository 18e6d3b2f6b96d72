import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { token } from '../api/setup.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { runHeddle, serveHeddle } from '../setup/heddle.ts';
import { startMailbox } from './mailbox.ts';
import { privateAuthority } from './private-authority.ts';
import { startSink } from './streaming/sink.ts';

const { authority: authorities, here } = privateAuthority;
const email = { type: 'email', target: { emails: ['ana@example.com'] } };

test('the authorities in the file of HEDDLE_OUTBOUND_CA are trusted', async () => {
  const directory = await temporaryDirectory();
  const [box, sink] = [await startMailbox({ scheme: 'smtps', tls: here }), await startSink(here)];
  const path = join(directory, 'ca.pem');
  await writeFile(path, `# of the company\n${authorities}`);
  await using server = await serveHeddle(['--data-dir', join(directory, 'data')], {
    env: {
      ...{ HEDDLE_OUTBOUND_CA: path, HEDDLE_OUTBOUND_ALLOW: '127.0.0.1', HEDDLE_SMTP_URL: box.url },
      ...{ HEDDLE_MAIL_FROM: 'heddle@mesh.example.com', HEDDLE_BOOTSTRAP_TOKEN: token },
    },
  });
  const post = async (at: string, body: JsonObject = {}) => {
    const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}${at}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return asObject(parseJson(await answer.text()));
  };
  const channels = '/api/integrations/notifications/channels';
  const { id } = await post(channels, { ...email, event_types: ['group.add'], enabled: true });
  expect(await post(`${channels}/${id}/test`)).toMatchObject({ delivered: true });
  expect(box.received.map(({ to }) => to)).toEqual([['ana@example.com']]);
  await post('/api/event-streaming', { platform: 'generic_http', config: { url: `${sink.url}/in` }, enabled: true });
  await post('/api/groups', { name: 'one' });
  await expect.poll(() => sink.accepted.length).toBeGreaterThan(0);
});

test.each([
  [
    'is not there',
    undefined,
    /^error: HEDDLE_OUTBOUND_CA cannot be read \(ENOENT.+\); correct the path or unset it\.$/,
  ],
  [
    'has no certificate',
    privateAuthority.here.key,
    /^error: HEDDLE_OUTBOUND_CA names \S+, which contains no certificates in PEM; name a file with the certificates of the authorities\.$/,
  ],
  ['has half a certificate', authorities.replace('MII', 'MIX'), /contains no certificates in PEM/],
])('a file of HEDDLE_OUTBOUND_CA that %s makes the start fail', async (_, text, message) => {
  const path = join(await temporaryDirectory(), 'ca.pem');
  if (text !== undefined) await writeFile(path, text);
  const run = await runHeddle(['serve', '--listen', '127.0.0.1:0'], { env: { HEDDLE_OUTBOUND_CA: path } });
  expect([run.code, run.err.trim()]).toEqual([1, expect.stringMatching(message)]);
});
