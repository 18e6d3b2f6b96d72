import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { runHeddle, serveHeddle } from '../setup/heddle.ts';
import { makeUpstream } from '../sources/git-host.ts';
import { groups } from '../sources/office-source.ts';

const env = { HEDDLE_GIT_TRANSPORTS: 'file' };

it('a settings file names directories and Git repositories, which are applied automatically; a flag overrides it', async () => {
  const directory = await temporaryDirectory();
  const upstream = await makeUpstream({ 'config/groups.yaml': groups('from-git'), 'other.txt': 'x' });
  await mkdir(join(directory, 'documents'));
  await writeFile(join(directory, 'documents/groups.yaml'), groups('from-disk'));
  const file = join(directory, 'heddle.yaml');
  await writeFile(
    file,
    `log: json
dataDir: ${directory}/data
listen: 127.0.0.1:1
sources:
  - { name: disk, type: directory, path: documents, scope: { kinds: [Group] } }
  - { name: net, type: git, url: "${upstream.url}", path: config, interval: 24h, pollInterval: 24h }
`,
  );
  await copyEmbedded(join(directory, 'data'));
  await using server = await serveHeddle(['--config', file], { env });
  await server.line(/"message":"source disk: 1 documents, revision/);
  await server.line(/"message":"source net: 1 documents, revision/);
  const token = (await readFile(join(directory, 'data/token'), 'utf8')).trim();
  const headers = { authorization: `Token ${token}` };
  // biome-ignore lint/suspicious/noExplicitAny: a wrong member is `undefined` and fails the test.
  const ask = async (path: string): Promise<any> => (await fetch(server.url + path, { headers })).json();
  const [disk, net] = await ask('/api/config/sources');
  expect(disk).toMatchObject({ id: 'disk', type: 'directory', managedBy: 'server', scope: { kinds: ['Group'] } });
  expect(net).toMatchObject({ id: 'net', type: 'git', url: upstream.url, managedBy: 'server' });
  const commit = await upstream.commit({ 'config/groups.yaml': groups('from-git', 'more') });
  await fetch(`${server.url}/api/config/sources/net/reconcile`, { method: 'POST', headers });
  await expect
    .poll(async () => (await ask('/api/config/revisions?limit=1'))[0])
    .toMatchObject({ source: 'net', commit, commit_author: 'Ana', commit_subject: 'Change', counts: { create: 1 } });
  expect((await ask('/api/config/sources'))[1].status).toMatchObject({
    state: 'applied',
    lastAppliedCommit: commit,
    inventory: { Group: 2 },
  });
  expect(await server.stop()).toBe(0);
});

it('a settings file with mistakes is refused with their positions, before anything starts', async () => {
  const file = join(await temporaryDirectory(), 'heddle.yaml');
  await writeFile(file, 'lisen: x\nsources:\n  - { name: net, type: git, url: "file:///srv/x.git" }\n');
  const { code, err } = await runHeddle(['serve', '--config', file]);
  expect(code).toBe(5);
  expect(err).toContain(`${file}:1:8: unknown field \`lisen\`; did you mean \`listen\`? (field_unknown)`);
  await writeFile(file, 'sources:\n  - { name: net, type: git, url: "file:///srv/x.git" }\n');
  expect((await runHeddle(['serve', '--config', file])).err).toContain(`${file}:2:34: \`url\` uses file`);
});
