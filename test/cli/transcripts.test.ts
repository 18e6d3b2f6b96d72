import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandNames } from '../../src/cli/commands.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { operatorToken } from '../api/setup.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { sharedServer } from './served.ts';
import { replay, type Stage } from './transcript.ts';

// All files use one account, in the order of their names. To add a command, write `$ heddle …` into a file and run this
// test file with `-u`, which writes the output. A change in the output of commands appears as a difference in these
// files.
const folder = fileURLToPath(new URL('../golden/cli', import.meta.url));
const files = (await readdir(folder)).sort();

const server = sharedServer();
let stage: Stage;
const before = process.cwd();

beforeAll(async () => {
  const directory = await temporaryDirectory();
  await cp(fileURLToPath(new URL('../../examples/quickstart', import.meta.url)), join(directory, 'office'), {
    recursive: true,
    filter: (path) => !/(dns|account)\.yaml$/.test(path),
  });
  stage = { directory, env: { ...server().env, HEDDLE_CONFIG_DIR: join(directory, '.config') }, events };
  process.chdir(directory);
});

afterAll(() => process.chdir(before));

/** Calls the API as the owner and returns the body. Fails unless the status is 200. */
async function call(method: string, path: string, body?: Json, headers = {}) {
  const answer = await server().api.call(method, path, body, headers);
  expect(answer.status, `${method} ${path}`).toBe(200);
  return answer.body;
}

/** Returns the object whose field has this value. */
async function find(path: string, field: string, value: string) {
  return (await call('GET', path)).find((one: JsonObject) => one[field] === value);
}

async function joinGroup(group: string, peer: string | undefined): Promise<void> {
  const { id, name } = await find('/api/groups', 'name', group);
  await call('PUT', `/api/groups/${id}`, { name, peers: [peer ?? ''] });
}

const channel = `apiVersion: heddle.dev/v1
kind: NotificationChannel
metadata: { name: chat }
spec: { type: email, target: { emails: [ops@example.com] }, event_types: [user.join] }
`;

const products = `apiVersion: heddle.dev/v1
kind: EdrVendorA
metadata: { name: laptops }
spec:
  api_url: https://edr.example.com
  api_token: { valueFrom: { fileRef: edr-token } }
  groups: [All staff]
  last_synced_interval: 24
`;

/** Events between command lines, by the text of their line in the transcripts. */
const events: Stage['events'] = {
  'Machines of staff and web servers enrol, and somebody makes the group Printers.': async () => {
    const [laptop, web] = await server().api.peers('laptop', 'web-1');
    await joinGroup('All staff', laptop);
    await joinGroup('Web servers', web);
    await server().api.group('Printers');
  },
  'Somebody deletes the policy Default.': async () => {
    const { id } = await find('/api/policies', 'name', 'Default');
    await call('DELETE', `/api/policies/${id}`);
  },
  'Somebody raises the metric of the route office past its source.': async () => {
    const { id, ...route } = await find('/api/routes', 'network_id', 'office');
    await call('PUT', `/api/routes/${id}`, { ...route, metric: 900 }, { 'x-break-glass': 'incident 4711' });
  },
  'Somebody writes channel.yaml.': () => writeFile(join(stage.directory, 'channel.yaml'), channel),
  'Somebody writes endpoint-security.yaml, and the token of the product into the file values/edr-token.': async () => {
    await writeFile(join(stage.directory, 'endpoint-security.yaml'), products);
    await mkdir(join(stage.directory, 'values'));
    await writeFile(join(stage.directory, 'values/edr-token'), 'token-of-edr');
  },
  'The operator puts the token into the data directory.': async () => {
    await mkdir(join(stage.directory, '.heddle'));
    await writeFile(join(stage.directory, '.heddle/operator-token'), operatorToken);
  },
};

it.each(files)('the transcript %s matches what the commands print', async (file) => {
  const golden = join(folder, file);
  await expect(await replay(await readFile(golden, 'utf8'), stage)).toMatchFileSnapshot(golden);
});

it('the transcripts cover every command', async () => {
  const transcripts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const called = transcripts.flatMap((text) => text.match(/^\$ .*heddle.*$/gm) ?? []);
  expect(commandNames.filter((name) => !called.some((line) => line.includes(`heddle ${name}`)))).toEqual([]);
  expect(called.length).toBeGreaterThan(60);
  expect(transcripts.filter((text) => text.includes('a defect of its own'))).toEqual([]);
});
