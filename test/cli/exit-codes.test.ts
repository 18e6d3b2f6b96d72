import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allCommands } from '../../src/cli/commands.ts';
import { flagsOf } from '../../src/cli/flags.ts';
import { applyDocuments } from '../../src/features/config/plans/documents.ts';
import { doc } from '../api/documents.ts';
import { applyRequest } from '../commit/office.ts';
import { document } from '../plan/steps.ts';
import { copyEmbedded, temporaryDirectory } from '../setup/database.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();
let directory: string;
let made = 0;

const group = (key: string, spec = '{}') => doc('Group', key, spec);

/** Creates a directory with one file of documents. */
function documents(...texts: readonly string[]): string {
  made += 1;
  const folder = join(directory, String(made));
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), texts.join('---\n'));
  return folder;
}

/** Creates a directory with the document of a group that does not exist yet. */
function fresh(): string {
  made += 1;
  return documents(group(`fresh-${made}`));
}

const unreached = doc('AccessTest', 'open', 'from: All\nto: All\nexpect: allow');
const few = () => documents(group('team-0'));
const wrong = () => documents(doc('Group', 'wrong', 'nam: x'));
// After the conflict, neither of the two sources can change this group, so no other case uses it.
const contradiction = () => documents(group('disputed', 'name: Another'));
const office = ['--source-name', 'office'];
const other = ['--source-name', 'other'];
const nowhere = ['--server', 'http://127.0.0.1:9'];
const leave = '--auto-approve';
const held = ['--reason', 'a test'];

/**
 * Copies a database without accounts into a data directory and returns the flags for it. Creating a database from
 * scratch would take two seconds of CPU.
 */
async function emptyDataDir(): Promise<readonly string[]> {
  const dataDir = join(directory, 'empty');
  await copyEmbedded(dataDir);
  return ['--data-dir', dataDir];
}

/** Returns the id of a plan that a guard stops. Its approval allows no other plan of these tests. */
async function guarded(): Promise<string> {
  const { document } = await server().json('plan', documents(group('crew-0')), '--source-name', 'crew');
  return document.id;
}

/** Creates a token for reverse proxies and returns its id. */
async function proxyToken(): Promise<string> {
  const { body } = await server().api.call('POST', '/api/reverse-proxies/proxy-tokens', { name: 'revoked' });
  return body.id;
}

/** Applies a setup key as a source, for which the server generates a value. Returns the id of the plan. */
async function outputs(): Promise<string> {
  made += 1;
  const { engine, account } = server().api;
  const actor = { type: 'source', id: `keys-${made}`, name: 'keys' } as const;
  const spec = { type: 'reusable', expires_in: 86400, usage_limit: 0, auto_groups: [] };
  const expected = applyRequest(actor.id, [document('SetupKey', `key-${made}`, spec)], { keepOutputs: true });
  const applied = await applyDocuments(engine, { account, actor, revision: 0 }, expected);
  return applied.state === 'applied' ? (applied.kept ?? '') : applied.state;
}

/** Creates a disabled notification channel and returns its id. */
async function channel(): Promise<string> {
  const spec = { type: 'email', target: { emails: ['a@example.com'] }, event_types: ['user.join'], enabled: false };
  const { body } = await server().api.call('POST', '/api/integrations/notifications/channels', spec);
  return body.id;
}

/**
 * Creates an endpoint security integration, unless it exists, and returns the name of its product. Nothing queries the
 * product.
 */
async function endpointSecurity(): Promise<string> {
  const { api } = server();
  // An account can have only one integration of a product.
  if ((await api.call('GET', '/api/integrations/edr/vendor-c')).status === 200) return 'vendor-c';
  const spec = { api_url: 'https://edr.example.com', api_token: 'token', groups: [await api.group('watched')] };
  const body = { ...spec, last_synced_interval: 24, match_attributes: {} };
  expect((await api.call('POST', '/api/integrations/edr/vendor-c', body)).status).toBe(200);
  return 'vendor-c';
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  for (const [source, name] of [
    ['office', 'team'],
    ['crew', 'crew'],
  ] as const) {
    const groups = Array.from({ length: 12 }, (_, at) => group(`${name}-${at}`));
    const files = [{ path: 'a.yaml', text: groups.join('---\n') }];
    await server().api.call('POST', '/api/config/apply', { source, files });
  }
  for (const source of ['spare', 'disputed']) {
    const files = [{ path: 's.yaml', text: group(source) }];
    await server().api.call('POST', '/api/config/apply', { source, files });
  }
  const settled = [{ path: 's.yaml', text: group('settled', 'name: Settled') }];
  await server().api.call('POST', '/api/config/apply', { source: 'settled', files: settled });
  const [found] = (await server().api.call('GET', '/api/groups?name=team-5')).body;
  const glass = { 'x-break-glass': 'incident 4711' };
  await server().api.call('PUT', `/api/groups/${found.id}`, { name: 'Renamed', peers: [] }, glass);
});

type Words = () => readonly string[] | Promise<readonly string[]>;

const cases: readonly (readonly [verb: string, code: number, what: string, words: Words])[] = [
  ['validate', 0, 'sound documents', () => [few()]],
  ['validate', 1, 'a path that is not there', () => ['/does/not/exist']],
  ['validate', 5, 'wrong documents', () => [wrong()]],
  ['test', 0, 'the account', () => []],
  ['test', 1, 'a path that is not there', () => ['/does/not/exist']],
  ['test', 5, 'a test that fails', () => [documents(unreached), '--offline']],
  ['plan', 0, 'changes that nobody asked about', () => [fresh(), ...other]],
  [
    'plan',
    0,
    'nothing to do',
    () => [documents(group('settled', 'name: Settled')), '--source-name', 'settled', '--detailed-exitcode'],
  ],
  ['plan', 1, 'a server that is not there', () => [few(), ...nowhere, ...other]],
  ['plan', 2, 'changes', () => [fresh(), '--detailed-exitcode', ...other]],
  ['plan', 3, 'a guard that trips', () => [few(), ...office]],
  ['plan', 4, 'what another source states otherwise', () => [contradiction(), ...other]],
  ['plan', 5, 'wrong documents', () => [wrong(), ...other]],
  ['apply', 0, 'changes', () => [fresh(), leave, '--source-name', `s${made}`]],
  ['apply', 1, 'a token that nobody has', () => [few(), leave, '--token', 'nbp_wrong', ...other]],
  ['apply', 1, 'nobody to ask', () => [few(), ...other]],
  ['apply', 1, 'a plan that is not there', () => ['d0000000000000000000', leave]],
  ['apply', 2, 'changes', () => [fresh(), leave, '--detailed-exitcode', '--source-name', `s${made}`]],
  ['apply', 3, 'a guard that trips', () => [few(), leave, ...office]],
  ['apply', 3, 'the approval of another plan', () => [few(), leave, ...office, '--approve', 'other']],
  ['apply', 4, 'a plan that is not the expected one', () => [fresh(), leave, '--expect-digest', 'other', ...other]],
  ['apply', 4, 'what another source states otherwise', () => [contradiction(), leave, ...other]],
  ['apply', 5, 'wrong documents', () => [wrong(), leave, ...other]],
  ['approve', 0, 'a plan that waits', async () => [await guarded(), leave]],
  ['approve', 1, 'nobody to ask', async () => [await guarded()]],
  ['approve', 1, 'a plan that is not there', () => ['nothing', leave]],
  ['approve', 4, 'another digest', async () => [await guarded(), 'other', leave]],
  ['plans', 0, 'a list', () => []],
  ['plans', 0, 'one plan', async () => [await guarded()]],
  ['plans', 1, 'a plan that is not there', () => ['nothing']],
  ['outputs', 0, 'values that were made', async () => [await outputs()]],
  ['outputs', 1, 'a plan that is not there', () => ['nothing']],
  ['export', 0, 'the account', () => []],
  ['export', 1, 'a kind that there is not', () => ['--kind', 'Grup']],
  ['import', 0, 'an object', () => ['Group', 'team-1']],
  ['import', 1, 'an object that is not there', () => ['Group', 'nobody']],
  ['drift', 0, 'none', () => ['--source', 'settled']],
  ['drift', 1, 'a source that is not there', () => ['--source', 'nobody']],
  ['drift', 2, 'some', () => []],
  ['override', 0, 'a value that a source states', () => ['Group', 'team-1', 'name=Held', ...held]],
  ['override', 1, 'an object that is not there', () => ['Group', 'nobody', 'name=Held', ...held]],
  ['override', 5, 'a field that there is not', () => ['Group', 'team-1', 'nam=Held', ...held]],
  ['override list', 0, 'what runs', () => []],
  ['override list', 1, 'a source that is not there', () => ['--source', 'nobody']],
  ['override end', 0, 'what runs', () => ['Group', 'team-1']],
  ['override end', 1, 'nothing that runs', () => ['Group', 'team-1']],
  ['status', 0, 'the account', () => []],
  ['status', 0, 'objects', () => ['--objects']],
  ['status', 1, 'a token that nobody has', () => ['--token', 'nbp_wrong']],
  ['sources', 0, 'a list', () => []],
  ['sources', 1, 'a source that is not there', () => ['nobody']],
  ['reconcile', 1, 'a source that is not there', () => ['nobody']],
  ['reconcile', 4, 'a source that is pushed', () => ['spare']],
  ['deliveries', 0, 'all channels', () => []],
  ['deliveries', 1, 'a channel that is not there', () => ['nobody']],
  ['deliveries resume', 0, 'a channel', async () => [await channel()]],
  ['deliveries resume', 1, 'a channel that is not there', () => ['nobody']],
  ['deliveries retry', 0, 'a channel', async () => [await channel()]],
  ['deliveries retry', 1, 'a channel that is not there', () => ['nobody']],
  ['deliveries discard', 0, 'a channel', async () => [await channel()]],
  ['deliveries discard', 1, 'a channel that is not there', () => ['nobody']],
  ['deliveries test', 1, 'a channel without a mail server', async () => [await channel()]],
  ['endpoint-security', 0, 'all integrations', () => []],
  ['endpoint-security', 1, 'a token that nobody has', () => ['--token', 'nbp_wrong']],
  ['endpoint-security sync', 0, 'an integration', async () => [await endpointSecurity()]],
  ['endpoint-security sync', 1, 'an integration that is not there', () => ['vendor-x']],
  ['endpoint-security approve', 1, 'an integration that is not there', () => ['vendor-x']],
  ['endpoint-security approve', 4, 'nothing that waits', () => ['vendor-c']],
  ['suspend', 0, 'a source', () => ['spare']],
  ['suspend', 1, 'a source that is not there', () => ['nobody']],
  ['resume', 0, 'a source', () => ['spare']],
  ['resume', 1, 'a source that is not there', () => ['nobody']],
  ['detach', 0, 'a source', () => ['spare', leave]],
  ['detach', 1, 'nobody to ask', () => ['spare']],
  ['history', 0, 'revisions', () => []],
  ['history', 0, 'one revision', () => ['2']],
  ['history', 1, 'a revision that there is not', () => ['9999']],
  ['rollback', 0, 'nothing to bring back', async () => [String(await server().api.revision()), leave]],
  ['rollback', 1, 'nobody to ask', () => ['2']],
  ['rollback', 1, 'a revision that there is not', () => ['9999', leave]],
  ['rollback', 3, 'a guard that trips', () => ['2', '--scope', 'source:crew', leave]],
  ['backup', 0, 'the account', () => [join(directory, `${fresh().split('/').at(-1)}.gz`)]],
  ['backup', 1, 'a file that cannot be written', () => ['/does/not/exist/backup.gz']],
  ['restore', 1, 'nobody to ask', () => ['backup.gz']],
  ['restore', 1, 'a file that is not there', () => ['/does/not/exist/backup.gz', leave]],
  ['operator backup', 1, 'no account', async () => [join(directory, 'nobody.gz'), ...(await emptyDataDir())]],
  ['operator restore', 1, 'nobody to ask', () => ['backup.gz']],
  ['operator restore', 1, 'a file that is not there', () => ['/does/not/exist/backup.gz', leave]],
  ['explain', 0, 'a field', () => ['Policy.rules']],
  ['explain', 1, 'a field that there is not', () => ['Policy.rulez']],
  ['explain-access', 0, 'two groups', () => ['Group/All', 'Group/All']],
  ['explain-access', 1, 'an end that is not there', () => ['Group/All', 'nobody']],
  ['proxy token create', 0, 'a token of a day', () => ['bern', '--expires-in', '24h']],
  ['proxy token create', 1, 'a time that is none', () => ['bern', '--expires-in', 'soon']],
  ['proxy token list', 0, 'all tokens', () => []],
  ['proxy token list', 1, 'a server that is not there', () => nowhere],
  ['proxy token revoke', 0, 'a token', async () => [await proxyToken(), leave]],
  ['proxy token revoke', 1, 'a token that there is not', () => ['nobodys', leave]],
  ['health', 0, 'a server that is ready', () => []],
  ['health', 1, 'a server that is not there', () => nowhere],
  ['schema', 0, 'all kinds', () => []],
  ['schema', 1, 'a kind that there is not', () => ['--kind', 'Grup']],
  ['completion', 0, 'a shell', () => ['bash']],
  ['completion', 1, 'a shell that is not known', () => ['tcsh']],
  ['version', 0, 'this program', () => []],
];

const commands = await allCommands(() => Promise.reject(new Error('nothing is started here')));
const hasJson = (verb: string) =>
  commands.some((command) => command.name === verb && Object.hasOwn(flagsOf(command), 'json'));

describe('the exit codes of every command', () => {
  it('are tested for every command with --json', () => {
    const tried = new Set(cases.map(([verb]) => verb));
    expect(commands.map(({ name }) => name).filter((name) => hasJson(name) && !tried.has(name))).toEqual([]);
  });

  it.each(cases)('E146 %s exits with %i: %s', async (verb, code, _, words) => {
    const ran = await server().heddle([...verb.split(' '), ...(await words())]);
    expect([ran.code, ran.note]).toEqual([code, code === 1 ? expect.stringMatching(/./) : expect.anything()]);
  });

  it.each(cases.filter(([verb]) => hasJson(verb)))(
    'E147 %s --json exits with %i and prints exactly one JSON document: %s',
    async (verb, code, _, words) => {
      const { code: found, document } = await server().json(...verb.split(' '), ...(await words()));
      expect([found, document.formatVersion], JSON.stringify(document)).toEqual([
        code,
        expect.stringMatching(/^1\.\d+$/),
      ]);
      if (code === 1 || code > 2) expect(failureCode(document)).toBe(code);
    },
  );

  it('E150 no command prompts without a terminal', async () => {
    const confirm = async () => Promise.reject(new Error('asked'));
    for (const [verb, code, , words] of cases) {
      const ran = await server().heddle([...verb.split(' '), ...(await words())], { confirm });
      expect([verb, ran.code]).toEqual([verb, code]);
    }
  });
});

/**
 * Returns the exit code that a failure document states. In plans and in results of checks, the content implies the exit
 * code.
 */
// biome-ignore lint/suspicious/noExplicitAny: a document of any command.
function failureCode(document: any): number {
  if (document.guards?.length > 0) return 3;
  if (document.valid === false) return 5;
  return document.error?.exitCode;
}
