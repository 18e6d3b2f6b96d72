import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createReader } from '../../src/documents/reader.ts';
import type { SourceDefinition } from '../../src/features/sources/definition.ts';
import { superviseSources } from '../../src/features/sources/loop/supervisor.ts';
import { groups, newMemoryOrigin } from '../sources/office-source.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();
const origin = newMemoryOrigin('office', groups('one', 'two'));
let stop: () => Promise<void>;

beforeAll(async () => {
  const { engine, account } = server().api;
  const definition: SourceDefinition = {
    ...{ account, name: 'office', type: 'directory', spec: { path: '/etc/office' }, isConfigured: true },
    ...{ intervalMs: 3_600_000, delayMs: 0, open: () => origin.open() },
  };
  const reader = createReader();
  const end = superviseSources({
    ...{ engine, reader, definitions: [definition], leaseSeconds: 30, version: 'test', pollMs: 20 },
    report: () => {},
  });
  stop = async () => {
    await end();
    await reader.close();
  };
  const files = [{ path: 'a.yaml', text: groups('pushed') }];
  await server().api.call('POST', '/api/config/apply', { source: 'ci', files });
  await settled('applied');
});

afterAll(() => stop());

async function settled(state: string): Promise<void> {
  const look = async () => {
    const { document } = await server().json('sources', 'office');
    expect(document.source?.status?.state).toBe(state);
  };
  await vi.waitFor(look, 90_000);
}

const heddle = (...argv: readonly string[]) => server().heddle(argv);
const twelve = Array.from({ length: 12 }, (_, at) => `team-${at}`);

describe('heddle reconcile', () => {
  it('requests a reconcile and names the command that shows its result', async () => {
    expect(await heddle('reconcile', 'office')).toEqual({
      ...{ code: 0, note: '' },
      out: 'The reconcile is requested. `heddle sources office` shows its result.\n',
    });
    expect((await server().json('reconcile', 'office')).document).toEqual({
      ...{ formatVersion: '1.0', source: 'office', requestedAt: expect.stringMatching(/^20/) },
    });
  });

  it('with --wait returns when the current content is applied', async () => {
    origin.put(groups('one', 'two', 'three'), 'silently');
    const { code, out } = await heddle('reconcile', 'office', '--wait');
    expect([code, out]).toEqual([0, expect.stringMatching(/^source office: 3 documents, revision \d+: 1 created/)]);
    expect((await server().json('reconcile', 'office', '--wait')).document).toMatchObject({
      ...{ formatVersion: '1.0', source: { id: 'office', status: { state: 'applied' } } },
    });
  });

  it.each([
    [5, 'wrong documents', 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: x}\nspec: {nam: y}\n'],
    [4, 'a conflict', `${groups('one')}---\n${groups('pushed').replace('{}\n', '{name: Other}\n')}`],
  ])('E146 exits with %i for %s', async (code, _, text) => {
    origin.put(text, 'silently');
    const files = [{ path: 'a.yaml', text: groups('pushed').replace('{}\n', '{name: Pushed}\n') }];
    await server().api.call('POST', '/api/config/apply', { source: 'ci', files });
    const ran = await heddle('reconcile', 'office', '--wait');
    expect([ran.code, ran.out]).toEqual([code, expect.stringContaining('CONDITIONS')]);
    const reported = await server().json('reconcile', 'office', '--wait');
    expect([reported.code, reported.document.error.exitCode]).toEqual([code, code]);
  });

  it('E146 exits with 3 for a plan that needs an approval; the source applies it once approved', async () => {
    origin.put(groups('one', ...twelve));
    await settled('applied');
    origin.put(groups('one'), 'silently');
    const { code, out } = await heddle('reconcile', 'office', '--wait');
    const [, id = ''] = /waits for .*: `heddle approve (\w+)`/.exec(out) ?? [];
    expect([code, out]).toEqual([3, expect.stringContaining('Stalled')]);
    const approved = await heddle('approve', id, '--auto-approve');
    expect([approved.code, approved.out]).toEqual([
      0,
      expect.stringContaining(
        'Approved. The source office applies the plan itself; `heddle status` shows when it is applied.',
      ),
    ]);
    await settled('applied');
  });

  it('E146 exits with 1 when the source cannot be read', async () => {
    origin.close('the directory is gone');
    const { code, note } = await heddle('reconcile', 'office', '--wait');
    expect([code, note]).toEqual([1, expect.stringContaining('the directory is gone')]);
    origin.put(groups('one', 'two'));
    await settled('applied');
  });

  it('exits with 1 when --timeout is exceeded', async () => {
    let open = () => {};
    origin.gate = new Promise((resolve) => {
      open = resolve;
    });
    const { code, note } = await heddle('reconcile', 'office', '--wait', '--timeout', '50ms');
    open();
    origin.gate = undefined;
    expect([code, note]).toEqual([1, expect.stringContaining('No server has reconciled office in time')]);
  });

  it.each([
    [1, ['ofice'], 'source ofice not found; did you mean office?'],
    [4, ['ci'], 'gets its documents by push; no server reconciles it'],
    [1, ['office', '--wait', '--timeout', 'soon'], '--timeout is not a duration'],
  ])('E146 exits with %i for %j', async (code, words, message) => {
    expect(await heddle('reconcile', ...words)).toMatchObject({ code, note: expect.stringContaining(message) });
  });
});

describe('heddle suspend and heddle resume', () => {
  it('suspend a source and resume it', async () => {
    const suspended = await heddle('suspend', 'office');
    expect([suspended.code, suspended.out]).toEqual([
      0,
      'The source office is suspended; its objects are not changed. Resume it with `heddle resume office`.\n',
    ]);
    expect((await heddle('suspend', 'office')).out).toBe('The source office is already suspended; nothing changed.\n');
    expect(await heddle('reconcile', 'office')).toMatchObject({
      code: 4,
      note: expect.stringContaining('resume it first'),
    });
    await expect.poll(async () => (await heddle('status')).out).toMatch(/\n {4}Suspended \(Suspended\) since 20/);
    expect((await heddle('resume', 'office')).out).toBe('The source office is resumed.\n');
    expect((await heddle('resume', 'office')).out).toBe('The source office was not suspended; nothing changed.\n');
    expect((await server().json('suspend', 'office')).document).toMatchObject({
      source: { id: 'office', suspended: true },
    });
    expect((await server().json('resume', 'office')).document).toMatchObject({ source: { suspended: false } });
    expect((await heddle('suspend', 'nobody')).code).toBe(1);
  });
});

describe('heddle detach', () => {
  it('refuses without --auto-approve in a non-interactive shell (E150)', async () => {
    const confirm = async () => Promise.reject(new Error('asked'));
    const { code, note } = await server().heddle(['detach', 'ci'], { confirm });
    expect([code, note]).toEqual([1, expect.stringContaining('add --auto-approve to detach without asking')]);
  });

  it('detaches nothing when the confirmation is declined', async () => {
    const asked: string[] = [];
    const confirm = async (question: string) => {
      asked.push(question);
      return false;
    };
    const { code, note } = await server().heddle(['detach', 'ci'], { interactive: true, confirm });
    expect([code, note, asked]).toEqual([
      1,
      'The source ci states values of 1 object and would release them.\nerror: Nothing was detached.\n',
      ['Detach the source ci? [y/N] '],
    ]);
  });

  it('releases the objects of the source and suspends it', async () => {
    const { code, out } = await heddle('detach', 'ci', '--auto-approve');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^1 object belongs to no source now, as of revision \d+\. The source ci is suspended\.\n$/),
    ]);
    expect((await heddle('status', '--objects', '--status', 'Unmanaged', '--kind', 'Group')).out).toContain('pushed');
    expect((await heddle('detach', 'ci', '--auto-approve')).out).toMatch(/^There was nothing to release\./);
    expect((await server().json('detach', 'ci', '--auto-approve')).document).toEqual({
      ...{ formatVersion: '1.0', source: 'ci', revision: null, released: 0, shared: 0, reconciled: [] },
    });
  });
});
