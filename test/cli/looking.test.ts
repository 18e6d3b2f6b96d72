import { beforeAll, describe, expect, it } from 'vitest';
import { recordSource } from '../../src/features/sources/sources.ts';
import { doc } from '../api/documents.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();

const route = (name: string, metric: number) =>
  doc(
    'Route',
    name,
    `network_id: ${name}\nnetwork: 10.${metric}.0.0/16\npeer_groups: [All]\ngroups: [All]\nmetric: ${metric}`,
  );

async function put(name: string, change: object, headers = {}): Promise<void> {
  const { call } = server().api;
  const routes = (await call('GET', '/api/routes')).body;
  const found = routes.find((one: { readonly network_id: string }) => one.network_id === name);
  expect((await call('PUT', `/api/routes/${found.id}`, { ...found, ...change }, headers)).status).toBe(200);
}

beforeAll(async () => {
  const { api } = server();
  const actor = { type: 'source', id: 'office', name: 'office' } as const;
  const office = { id: 'office', type: 'push', spec: { conflictMode: 'observe' } };
  await recordSource(api.engine, { account: api.account, actor }, office);
  const files = [{ path: 'routes.yaml', text: `${route('one', 1)}---\n${route('two', 2)}` }];
  await api.call('POST', '/api/config/apply', { source: 'office', files });
  const team = [{ path: 'team.yaml', text: `${route('three', 3)}---\n${doc('Group', 'devs', 'name: Developers')}` }];
  await api.call('POST', '/api/config/apply', { source: 'team', files: team });
});

describe('heddle drift', () => {
  it('exits with 0 when everything is as stated', async () => {
    const { code, out } = await server().heddle(['drift', '--source', 'team']);
    expect([code, out]).toEqual([0, 'No drift. The account matches its documents.\n']);
  });

  it('exits with 2 and lists per object what differs, where it is stated and why', async () => {
    await put('one', { metric: 11, description: 'by hand' });
    await put('three', { metric: 33 }, { 'x-break-glass': 'incident 4711' });
    const { code, out } = await server().heddle(['drift']);
    expect(code).toBe(2);
    expect(out.replace(/until \S+:/, 'until TIME:')).toBe(`Route one  (routes.yaml:1, source office)
    ~ metric: 1 → 11
        changed through the API

Route three  (team.yaml:1, source team)
    ~ metric: 3 → 33
        overridden by machine owner until TIME: incident 4711

2 units of 2 objects are not as stated.
`);
  });

  it('prints the same as JSON', async () => {
    const { code, document } = await server().json('drift', '--source', 'office');
    expect(code).toBe(2);
    expect(document).toMatchObject({
      formatVersion: '1.0',
      revision: expect.any(Number),
      units: [{ kind: 'Route', key: 'one', path: 'metric', stated: 1, effective: 11, file: 'routes.yaml', line: 1 }],
    });
  });

  it('is printed as annotations at the documents, as a comment and as a report', async () => {
    const drift = (format: string) => server().heddle(['drift', '--source', 'office', '--format', format]);
    const github = await drift('github');
    const message = 'metric is 11 and is stated as 1; changed through the API';
    expect([github.code, github.out]).toEqual([2, `::warning file=routes.yaml,line=1,title=Route one::${message}\n`]);
    expect((await drift('markdown')).out).toContain('### 1 unit of 1 object is not as stated.');
    expect(JSON.parse((await drift('gitlab')).out)).toMatchObject([{ check_name: 'drift_api', severity: 'minor' }]);
  });

  it('refuses an unknown source instead of reporting no drift', async () => {
    const { code, note } = await server().heddle(['drift', '--source', 'ofice']);
    expect([code, note]).toEqual([1, 'error: source ofice not found; did you mean office?\n']);
  });
});

describe('heddle import', () => {
  it('prints a document that adopts an object made by hand and changes nothing else', async () => {
    const id = await server().api.group('Ops team');
    const { code, out, note } = await server().heddle(['import', 'group', 'Ops team']);
    expect([code, note]).toEqual([0, '']);
    expect(out).toBe(
      `---\napiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: ops-team\n  annotations:\n    heddle.dev/adopt: id:${id}\nspec:\n  name: Ops team\n`,
    );
    const readInput = async () => out;
    const plan = await server().heddle(['plan', '-', '--source-name', 'importer'], { readInput });
    expect([plan.code, plan.out]).toEqual([0, 'No changes; takes ownership of 1 object.\n']);
  });

  it('finds an object by its id too, and prints JSON', async () => {
    const id = await server().api.group('By id');
    const { code, document } = await server().json('import', 'Group', id);
    expect([code, document]).toMatchObject([
      0,
      { formatVersion: '1.0', documents: [{ kind: 'Group', metadata: { name: 'by-id' } }] },
    ]);
  });

  it('reports when a source states the object already', async () => {
    const { code, note } = await server().heddle(['import', 'Group', 'devs']);
    expect([code, note]).toEqual([
      0,
      'Group/devs is already stated by the source team (team.yaml:12); move that document instead of stating the object twice.\n',
    ]);
  });

  it.each([
    [['Group', 'Developer'], 'Group Developer not found; did you mean Developers?'],
    [['Grup', 'x'], 'unknown kind Grup'],
    [['Group', 'All'], 'the server manages this object itself, and documents do not state it'],
    [['Group'], 'KIND NAME|ID is missing'],
    [['Group', 'a', 'b'], '`b` is one word too many; write KIND NAME|ID'],
  ])('refuses %j', async (words, message) => {
    const { code, out, note } = await server().heddle(['import', ...words]);
    expect([code, out, note]).toEqual([1, '', expect.stringContaining(message)]);
  });
});

describe('heddle export', () => {
  it('writes what one source states, at a given revision, marked for adoption', async () => {
    const revision = await server().api.revision();
    await put('two', { metric: 22 });
    const { out } = await server().heddle(['export', '--source', 'office', '--kind', 'Route']);
    expect([out.match(/metric: \d+/g), out.includes('heddle.dev/adopt')]).toEqual([
      ['metric: 11', 'metric: 22'],
      false,
    ]);
    const past = await server().heddle([
      ...['export', '--source', 'office', '--kind', 'Route'],
      ...['--revision', String(revision), '--mark-adopt'],
    ]);
    expect(past.out.match(/metric: \d+|adopt: id:/g)).toEqual(['adopt: id:', 'metric: 11', 'adopt: id:', 'metric: 2']);
  });

  it('refuses an unknown source and an unknown revision', async () => {
    const unknown = await server().heddle(['export', '--source', 'nobody']);
    expect([unknown.code, unknown.out, unknown.note]).toEqual([
      1,
      '',
      'error: source nobody not found; there are office, team.\n',
    ]);
    expect((await server().heddle(['export', '--revision', '99999'])).code).toBe(1);
  });
});

describe('heddle status --objects', () => {
  it('prints a table of objects with owner, position and status', async () => {
    const { code, out } = await server().heddle(['status', '--objects', '--kind', 'Route']);
    expect([code, out.replaceAll(/\d+(?= +\w+\.yaml)/g, 'N')]).toEqual([
      0,
      `STATUS      KIND   NAME   OWNER   REVISION  STATED AT
Drifted     Route  one    office  N         routes.yaml:1
Overridden  Route  three  team    N         team.yaml:1
Drifted     Route  two    office  N         routes.yaml:12

3 objects: 2 Drifted, 1 Overridden.
`,
    ]);
  });

  it('filters by status and source, also as JSON', async () => {
    const { document } = await server().json('status', '--status', 'Overridden');
    expect(document).toMatchObject({ formatVersion: '1.0', objects: [{ kind: 'Route', key: 'three' }] });
    expect((await server().heddle(['status', '--status', 'Blocked'])).out).toBe('No matching objects.\n');
    expect((await server().heddle(['status', '--status', 'Odd'])).note).toContain('must be one of InSync, Drifted');
    expect((await server().heddle(['status', '--objects', '--source', 'tem'])).note).toContain('did you mean team?');
  });
});

describe('heddle sources', () => {
  it('prints a table, or the details of one source', async () => {
    const { code, out } = await server().heddle(['sources']);
    expect([code, out.replace(/until \S+ at/, 'until TIME at')]).toEqual([
      0,
      `SOURCE  TYPE  READY  REASON  OBJECTS  REVISION  APPLIED
office  push  -      -       2        -         -
team    push  -      -       2        -         -
    Overridden: 1 unit until TIME at the latest; \`heddle drift --source team\` shows them
`,
    ]);
    const one = await server().heddle(['sources', 'office']);
    expect([one.code, one.out]).toEqual([0, 'source        office (push)\nconflictMode  observe\nobjects       2\n']);
  });

  it('prints JSON', async () => {
    expect((await server().json('sources')).document).toMatchObject({
      formatVersion: '1.0',
      sources: [{ id: 'office' }, { id: 'team' }],
    });
    expect((await server().json('sources', 'team')).document).toMatchObject({ source: { id: 'team', type: 'push' } });
    expect(await server().json('sources', 'tema')).toEqual({
      code: 1,
      document: {
        formatVersion: '1.0',
        error: { message: 'source tema not found; did you mean team?', exitCode: 1, problems: [] },
      },
    });
  });
});
