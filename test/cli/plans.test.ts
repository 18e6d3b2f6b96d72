import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { doc } from '../api/documents.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();
let directory: string;
let path: (name: string) => string;
let source: string;
let made = 0;
const next = () => {
  made += 1;
  return made;
};

const group = (key: string, spec = '{}') => doc('Group', key, spec);
const twelve = (name: string) => Array.from({ length: 12 }, (_, at) => group(`${name}-${at}`)).join('---\n');

/** Writes a file of documents to a separate directory and returns the directory. */
function documents(...texts: readonly string[]): string {
  const folder = path(`documents-${next()}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), texts.join('---\n'));
  return folder;
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  path = (name) => join(directory, name);
});

beforeEach(() => {
  source = `source-${next()}`;
});

const named = () => ['--source-name', source];

async function apply(...words: readonly string[]) {
  return server().heddle(['apply', ...words, '--auto-approve']);
}

/**
 * Writes the file of a plan that a guard stops, because the plan deletes eleven of twelve groups. Returns the plan's id
 * and digest.
 */
async function guarded(file: string): Promise<{ readonly id: string; readonly digest: string }> {
  await apply(documents(twelve(source)), ...named());
  const { code } = await server().heddle(['plan', documents(group(`${source}-0`)), ...named(), '--out', file]);
  expect(code).toBe(3);
  const { plan, digest } = JSON.parse(readFileSync(file, 'utf8'));
  return { id: plan, digest };
}

describe('a plan written with --out', () => {
  it('is identified by the file, which contains no changes', async () => {
    const file = path('plan.json');
    const { code, out, note } = await server().heddle(['plan', documents(group('one')), ...named(), '--out', file]);
    expect([code, note]).toEqual([
      0,
      `Wrote a reference to the plan to ${file}; \`heddle apply ${file}\` applies it.\n`,
    ]);
    expect(out).toContain('Plan: 1 to create');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      ...{ formatVersion: '1.0', type: 'heddle-plan', plan: expect.any(String), digest: expect.any(String) },
      ...{ server: server().url, source, expiresAt: expect.stringMatching(/^20/) },
    });
  });

  it('is applied exactly, once', async () => {
    const file = path('once.json');
    await server().heddle(['plan', documents(group('exactly')), ...named(), '--out', file]);
    const { code, out } = await apply(file);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^\+ Group exactly .*\n(.*\n)+Applied as revision \d+\.\n$/),
    ]);
    const again = await apply(file);
    expect([again.code, again.note]).toEqual([
      4,
      expect.stringMatching(/^error: Plan \w+ was applied already as revision/),
    ]);
  });

  it('is refused when the account has changed since, with the changes (E104)', async () => {
    const folder = documents(group('stale', 'peers: []'));
    await apply(folder, ...named());
    const file = path('stale.json');
    await server().heddle(['plan', documents(group('stale', 'name: New name')), ...named(), '--out', file]);
    await apply(documents(group('stale', 'name: Other')), ...named());
    const { code, note } = await apply(file);
    expect([code, note]).toEqual([4, expect.stringContaining('Group stale')]);
    // Printed only once, not also in the sentence above it.
    expect(note.match(/machine owner changed it/g)).toHaveLength(1);
  });

  it('can be applied by its id too', async () => {
    const { document } = await server().json('plan', documents(group('by-id')), ...named());
    const { code, out } = await apply(document.id);
    expect([code, out]).toEqual([0, expect.stringContaining('Applied as revision')]);
  });

  it.each([
    ['nowhere/plan.json', 'its directory does not exist (ENOENT); create the directory, or correct the path'],
    ['.', 'it is a directory (EISDIR); name a file'],
    ['/dev/full', 'the disk is full (ENOSPC); free space on its disk, or choose a place on another disk'],
  ])('still exists when %s cannot be written, and the error states why and how to apply it', async (output, reason) => {
    const file = output.startsWith('/') ? output : path(output);
    const { code, note } = await server().heddle(['plan', documents(group('x')), ...named(), '--out', file]);
    const [, id = ''] = /`heddle apply (\w+)`/.exec(note) ?? [];
    expect([code, note]).toEqual([
      1,
      `error: The plan was made; \`heddle apply ${id}\` applies it without its file. ${file} cannot be written: ${reason}.\n`,
    ]);
    expect((await server().heddle(['plans', id])).code).toBe(0);
  });
});

describe('a plan file', () => {
  let file: string;
  beforeAll(async () => {
    file = path('kept.json');
    await server().heddle(['plan', documents(group('kept')), '--source-name', 'kept', '--out', file]);
  });

  it('is distinguished from documents by its content', async () => {
    const { code, note } = await server().heddle(['plan', file]);
    expect([code, note]).toEqual([
      1,
      `error: ${file} contains a plan and no documents; apply it separately with \`heddle apply ${file}\`, and keep plans apart from documents.\n`,
    ]);
    expect((await server().heddle(['validate', file])).note).toContain('contains a plan and no documents');
    const inside = documents(group('inside'));
    writeFileSync(join(inside, 'plan.json'), readFileSync(file));
    expect((await apply(inside)).note).toContain(`${join(inside, 'plan.json')} contains a plan and no documents`);
  });

  it('cannot be applied together with documents', async () => {
    const { code, note } = await apply(documents(group('beside')), file);
    expect([code, note]).toEqual([
      1,
      `error: ${file} contains a plan, which is applied separately; leave the other paths out.\n`,
    ]);
  });

  it('cannot be combined with flags for documents', async () => {
    const { code, note } = await apply(file, '--no-prune', '--kind', 'Group');
    expect([code, note]).toEqual([
      1,
      expect.stringContaining('error: --no-prune, --kind are only for documents; an existing plan cannot be changed'),
    ]);
  });

  it('of another server is refused with the address of that server', async () => {
    const foreign = path('foreign.json');
    const content = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(
      foreign,
      JSON.stringify({ ...content, plan: 'd0000000000000000000', server: 'http://elsewhere:8080' }),
    );
    const { code, note } = await apply(foreign);
    expect([code, note]).toEqual([
      1,
      `error: The plan was made on http://elsewhere:8080, and ${server().url} does not know it; name the server of the plan with --server.\n`,
    ]);
  });

  it('with another digest than that of the plan is refused', async () => {
    const changed = path('changed.json');
    writeFileSync(changed, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), digest: 'other' }));
    expect(await apply(changed)).toMatchObject({ code: 4, note: expect.stringContaining('the file names other') });
  });

  it('that is damaged is reported as such', async () => {
    const damaged = path('damaged.json');
    writeFileSync(damaged, '{"type": "heddle-plan", "formatVersion": "2.0"}');
    expect(await apply(damaged)).toMatchObject({ code: 1, note: expect.stringContaining('make it again with') });
  });

  it('is not assumed for an unknown name, which is reported as a missing path', async () => {
    expect(await apply('d1ns4cafcndc00000000')).toMatchObject({ code: 1, note: expect.stringContaining('not found') });
    expect(await apply('nothing/here')).toMatchObject({ code: 1, note: expect.stringContaining('nothing/here') });
  });
});

describe('heddle approve', () => {
  it('approves exactly the plan that a guard stopped, and states how to continue', async () => {
    const file = path('guarded.json');
    const { id, digest } = await guarded(file);
    const stopped = await apply(file);
    expect([stopped.code, stopped.note]).toEqual([3, expect.stringContaining(`heddle approve ${id}`)]);
    const approved = await server().heddle(['approve', file, digest, '--auto-approve']);
    expect([approved.code, approved.note]).toEqual([0, '']);
    expect(approved.out).toMatch(
      /- Group .*This plan needs an approval:.*Approved\. `heddle apply \w+` applies it\.\n$/s,
    );
    expect(await apply(file)).toMatchObject({ code: 0, out: expect.stringContaining('Applied as revision') });
  });

  it('approves the same plan when it is made again, and no other (E74)', async () => {
    const { id } = await guarded(path('again.json'));
    expect((await server().heddle(['approve', id, '--auto-approve'])).code).toBe(0);
    expect(await apply(documents(group(`${source}-1`)), ...named())).toMatchObject({ code: 3 });
    expect(await apply(documents(group(`${source}-0`)), ...named())).toMatchObject({ code: 0 });
  });

  it('asks for confirmation, and approves nothing when refused', async () => {
    const { id } = await guarded(path('asked.json'));
    const asked: string[] = [];
    const answer = (yes: boolean) => ({
      interactive: true,
      confirm: async (question: string) => {
        asked.push(question);
        return yes;
      },
    });
    expect(await server().heddle(['approve', id], answer(false))).toMatchObject({
      code: 1,
      note: 'error: Nothing was approved.\n',
    });
    expect(await server().heddle(['approve', id], answer(true))).toMatchObject({ code: 0 });
    const third = await server().heddle(['approve', id], answer(false));
    expect([third.code, third.out]).toEqual([
      0,
      expect.stringContaining('The plan is already approved by machine owner at'),
    ]);
    expect(asked).toEqual(['Approve this plan? [y/N] ', 'Approve this plan? [y/N] ']);
  });

  it('does not prompt without a terminal (E150)', async () => {
    const confirm = async () => Promise.reject(new Error('asked'));
    const { code, note } = await server().heddle(['approve', 'd1ns4cafcndc00000000'], { confirm });
    expect([code, note]).toEqual([1, expect.stringContaining('add --auto-approve to approve without asking')]);
  });

  it('refuses another digest, an unknown plan, and a plan that was applied already', async () => {
    const { id } = await guarded(path('refused.json'));
    expect(await server().heddle(['approve', id, 'other', '--auto-approve'])).toMatchObject({ code: 4 });
    expect(await server().heddle(['approve', 'nothing', '--auto-approve'])).toMatchObject({ code: 1 });
    await apply(id, '--approve', (await server().json('plans', id)).document.digest);
    expect(await server().heddle(['approve', id, '--auto-approve'])).toMatchObject({
      code: 4,
      note: expect.stringContaining('was applied already'),
    });
  });

  it('does nothing for a plan that no guard stops', async () => {
    const { document } = await server().json('plan', documents(group('harmless')), ...named());
    const { code, out } = await server().heddle(['approve', document.id, '--auto-approve']);
    expect([code, out]).toEqual([0, expect.stringContaining('The plan needs no approval. `heddle apply')]);
  });

  it('prints as JSON what was approved and how it is applied', async () => {
    const { id } = await guarded(path('programs.json'));
    expect(await server().json('approve', id, '--auto-approve')).toMatchObject({
      code: 0,
      document: { formatVersion: '1.0', approved: true, appliedBy: 'apply', plan: { id, state: 'approved' } },
    });
  });
});

describe('heddle plans', () => {
  it('lists plans by state and source, and shows a single one', async () => {
    const { id } = await guarded(path('listed.json'));
    const { out } = await server().heddle(['plans', '--state', 'needs_approval', '--source', source]);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^PLAN +STATE +SOURCE +CREATE +CHANGE +DELETE +MADE AT +BY$/),
      expect.stringMatching(new RegExp(`^${id} +needs_approval +${source} +0 +0 +11 +20\\S+ +machine owner$`)),
      '',
    ]);
    expect((await server().heddle(['plans', id])).out).toContain('This plan needs an approval');
    expect((await server().heddle(['plans', '--state', 'failed'])).out).toBe('No matching plans.\n');
    expect((await server().json('plans', '--limit', '1')).document.plans).toHaveLength(1);
    expect(await server().heddle(['plans', '--state', 'odd'])).toMatchObject({ code: 1 });
  });
});

describe('the formats of a plan', () => {
  it('print a comment, annotations and a report', async () => {
    const folder = documents(group('seen', 'name: Seen'));
    const plan = (format: string) => server().heddle(['plan', folder, ...named(), '--format', format]);
    expect((await plan('markdown')).out).toMatch(/^### Plan for `source-\d+`: 1 to create, 0 to change, 0 to delete\n/);
    expect((await plan('github')).out).toBe(
      `::notice file=${folder}/a.yaml,line=1,title=Group seen::Group seen would be created\n`,
    );
    expect(JSON.parse((await plan('gitlab')).out)).toMatchObject([
      { severity: 'info', location: { path: `${folder}/a.yaml`, lines: { begin: 1 } } },
    ]);
    expect((await plan('text')).out).toContain('Plan: 1 to create');
  });

  it('report problems in documents', async () => {
    const folder = documents(doc('Group', 'wrong', 'nam: x'));
    const plan = (format: string) => server().heddle(['plan', folder, ...named(), '--format', format]);
    const message = 'unknown field `nam`; did you mean `name`?';
    expect(await plan('github')).toEqual({
      ...{ code: 5, note: '' },
      out: `::error file=${folder}/a.yaml,line=6,col=8,title=Group wrong::${message}\n`,
    });
    expect(JSON.parse((await plan('gitlab')).out)).toMatchObject([{ severity: 'major', check_name: 'field_unknown' }]);
    expect((await plan('markdown')).out).toMatch(
      /^### 1 problem: nothing would be applied\n\n- `.*a\.yaml:6`: unknown field/,
    );
  });

  it('report the reason when no plan could be made', async () => {
    const plan = (format: string) =>
      server().heddle([
        'plan',
        documents(group('x')),
        ...named(),
        '--format',
        format,
        '--server',
        'http://127.0.0.1:9',
      ]);
    expect(await plan('github')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^::error title=heddle::No server answers/),
    });
    expect(JSON.parse((await plan('gitlab')).out)).toMatchObject([{ check_name: 'failed', location: { path: '.' } }]);
  });

  it.each([
    [
      ['--format', 'markdwn'],
      '--format cannot be markdwn; write text, markdown, github or gitlab; did you mean markdown?',
    ],
    [['--format', 'github', '--json'], '--json and --format exclude each other; keep one.'],
  ])('are refused as %j', async (flags, message) => {
    expect(await server().heddle(['plan', 'x', ...flags])).toMatchObject({
      code: 1,
      note: expect.stringContaining(message),
    });
  });

  it('are not repeated, nor is --out, in the printed command that applies the plan', async () => {
    await apply(documents(twelve(source)), ...named());
    const folder = documents(group(`${source}-0`));
    const { note } = await server().heddle([
      'plan',
      folder,
      ...named(),
      '--format',
      'markdown',
      '--out',
      path('x.json'),
    ]);
    expect(note).toContain(`heddle apply ${folder} --source-name ${source} --approve`);
    rmSync(folder, { recursive: true });
  });
});
