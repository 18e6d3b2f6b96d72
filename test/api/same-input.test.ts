import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readInput } from '../../src/documents/input.ts';
import { createReader } from '../../src/documents/reader.ts';
import { planApply } from '../../src/features/config/plans/documents.ts';
import { readDirectory } from '../../src/features/sources/directory/read-directory.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { viewPlan } from '../../src/plan/view/view.ts';
import { runHere } from '../cli/collect.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { doc } from './documents.ts';
import { type TestApi, testApi, token } from './setup.ts';

const files: Readonly<Record<string, string>> = {
  'groups/devs.yaml': doc('Group', 'devs', 'name: Developers'),
  'policies.yaml': doc(
    'Policy',
    'web',
    'rules:\n  - {name: main, action: accept, protocol: tcp, ports: ["443"], sources: [devs], destinations: [All]}',
  ),
};

/** Returns the digest and the changes of a plan, without the files and lines of their documents. */
function operations({ digest, changes }: { readonly digest: string; readonly changes: readonly object[] }) {
  const bare = changes.map((change) => ({ ...change, file: undefined, line: undefined }));
  return { digest, changes: JSON.parse(JSON.stringify(bare)) };
}

it('E154 the same documents give the same plan over HTTP, as YAML, from the command line and from a directory', async () => {
  await using own = await testApi();
  const list = Object.entries(files).map(([path, text]) => ({ path, text }));
  const sent = await own.call('POST', '/api/config/plans', { source: 'team', files: list });
  const stream = Object.values(files).join('---\n');
  const yaml = await own.call('POST', '/api/config/plans?source=team', stream, { 'content-type': 'application/yaml' });
  const directory = await temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(directory, path, '..'), { recursive: true });
    await writeFile(join(directory, path), text);
  }
  expect([sent.status, sent.body.counts.create]).toEqual([201, 2]);
  expect(operations(yaml.body)).toEqual(operations(sent.body));
  expect(operations(await planOfDirectory(own, directory))).toEqual(operations(sent.body));
  expect(operations(await planOfCommand(own, directory))).toEqual(operations(sent.body));
});

async function planOfDirectory({ engine, account }: TestApi, path: string) {
  const snapshot = await readDirectory(path);
  if (!snapshot.ok) throw new Error(snapshot.reason);
  const reader = createReader();
  const { documents, problems, locate } = await readInput(reader, snapshot.files);
  await reader.close();
  const call = { account, actor: { type: 'source', id: 'team', name: 'team' }, revision: 0 } as const;
  const { outcome, before } = await planApply(engine, call, { source: 'team', documents, problems, locate });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
  return viewPlan(outcome.plan, before, outcome.next);
}

async function planOfCommand({ app }: TestApi, path: string) {
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const args = ['plan', path, '--source-name', 'team', '--json', '--server', url, '--token', token];
  const { code, out, note } = await runHere(args);
  expect([code, note]).toEqual([0, expect.any(String)]);
  return JSON.parse(out);
}

it('E155 a group created twice over the API is refused, and an existing one that documents state is claimed', async () => {
  await using own = await testApi();
  const body: JsonObject = { name: 'devs' };
  const { id } = (await own.call('POST', '/api/groups', body)).body;
  const twice = await own.call('POST', '/api/groups', body);
  expect([twice.status, twice.body.message]).toEqual([409, expect.stringContaining('already exists')]);
  const documents = { source: 'team', files: [{ path: 'a.yaml', text: doc('Group', 'devs', 'name: devs') }] };
  const applied = await own.call('POST', '/api/config/apply', documents);
  expect([applied.status, applied.body.plan.changes]).toEqual([200, []]);
  expect(applied.body.plan.claims).toMatchObject([{ action: 'claim', kind: 'Group', key: 'devs', id }]);
  expect((await own.call('GET', '/api/groups?name=devs')).body).toMatchObject([{ id }]);
});
