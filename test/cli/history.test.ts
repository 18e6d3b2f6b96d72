import { beforeAll, describe, expect, it } from 'vitest';
import { doc } from '../api/documents.ts';
import { serve, sharedServer } from './served.ts';

const server = sharedServer();

const apply = (texts: readonly string[], source = 'team') =>
  server().api.call('POST', '/api/config/apply', { source, files: [{ path: 'team.yaml', text: texts.join('---\n') }] });

const developers = (name: string) => doc('Group', 'developers', `name: ${name}`);
const ops = doc('Group', 'ops', 'name: ops');

beforeAll(async () => {
  await apply([developers('Developers'), ops]);
  await apply([developers('Makers'), ops]);
  await apply([developers('Makers')]);
  await server().api.group('by hand');
});

/** Replaces times and digests with placeholders, and removes trailing spaces. */
const still = (text: string) =>
  text
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME')
    .replace(/(digest +)\w+/g, '$1DIGEST')
    .replace(/ +$/gm, '');

describe('heddle history', () => {
  it('lists revisions, newest first, in pages', async () => {
    const { code, out } = await server().heddle(['history']);
    expect(code).toBe(0);
    expect(still(out)).toBe(`REVISION  TIME                  BY                      WHAT
5         TIME  machine owner           1 created
4         TIME  machine owner for team  1 deleted
3         TIME  machine owner for team  1 changed
2         TIME  machine owner for team  2 created
1         TIME  system                  4 created
`);
    const page = await server().json('history', '--limit', '2', '--before', '4');
    expect(page.document.revisions.map(({ revision }: { revision: number }) => revision)).toEqual([3, 2]);
  });

  it('shows the history of one object, even of a deleted one', async () => {
    const { out } = await server().heddle(['history', '--object', 'Group/developers']);
    expect(still(out)).toContain(`3         TIME  machine owner for team  1 changed
    ~ Group developers
        ~ name: "Developers" → "Makers"
        stated by team at team.yaml:1`);
    const gone = await server().heddle(['history', '--object', 'Group/ops']);
    expect(gone.out).toContain('- Group ops\n        no longer stated by team');
    expect((await server().heddle(['history', '--object', 'Group/nobody'])).out).toBe('No matching revisions.\n');
  });

  it('shows all changes of one revision', async () => {
    const { out } = await server().heddle(['history', '3']);
    expect(still(out)).toBe(`Revision 3: 1 changed
  made    TIME
  by      machine owner for team
  source  team
  digest  DIGEST

~ Group developers
    ~ name: "Developers" → "Makers"
    stated by team at team.yaml:1
`);
    const { document } = await server().json('history', '3');
    expect(document).toMatchObject({ formatVersion: '1.0', revision: { revision: 3, source: 'team' } });
  });

  it('reports unknown revisions and wrong flags', async () => {
    expect(await server().heddle(['history', '99'])).toMatchObject({
      code: 1,
      note: expect.stringContaining('not found'),
    });
    const mixed = await server().heddle(['history', '3', '--kind', 'Group']);
    expect([mixed.code, mixed.note]).toEqual([1, expect.stringContaining('--kind is only for the list of revisions')]);
    expect((await server().heddle(['history', '--since', 'yesterday'])).code).toBe(1);
  });
});

describe('heddle rollback', () => {
  it('shows the plan, asks, and applies it: objects are restored, the source is suspended', async () => {
    await using own = await serve();
    const { api, heddle } = own;
    const push = (texts: readonly string[]) =>
      api.call('POST', '/api/config/apply', { source: 'team', files: [{ path: 't.yaml', text: texts.join('---\n') }] });
    await push([developers('Developers'), ops]);
    await push([developers('Makers')]);
    const questions: string[] = [];
    const confirm = async (question: string) => questions.push(question) > 1;
    const no = await heddle(['rollback', '2'], { interactive: true, confirm });
    expect([no.code, questions]).toEqual([1, ['Apply this plan? [y/N] ']]);
    expect(no.out).toContain('+ Group ops');
    expect(no.out).toContain(
      'Returns to revision 2 and suspends the source team; `heddle resume NAME` lets it run again.',
    );
    expect(await api.revision()).toBe(3);
    const yes = await heddle(['rollback', '2'], { interactive: true, confirm });
    expect([yes.code, yes.out]).toEqual([0, expect.stringContaining('Applied as revision 4.')]);
    expect((await heddle(['history', '--limit', '1'])).out).toContain('back to revision 2, 1 created, 1 changed');
    const again = await heddle(['rollback', '2', '--auto-approve']);
    expect([again.code, again.out]).toEqual([0, 'No changes. Everything in scope is as it was at revision 2.\n']);
  });

  it('requires confirmation, a valid revision and a valid scope', async () => {
    expect(await server().heddle(['rollback', '2'])).toMatchObject({
      code: 1,
      note: expect.stringContaining('--auto-approve'),
    });
    const wrong = await server().heddle(['rollback', 'HEAD~1', '--auto-approve']);
    expect([wrong.code, wrong.note]).toEqual([1, expect.stringContaining('`HEAD~1` is not a revision')]);
    const scope = await server().heddle(['rollback', '2', '--scope', 'team', '--auto-approve']);
    expect([scope.code, scope.note]).toEqual([1, expect.stringContaining('source:NAME')]);
  });

  it('exits with 3 at a guard and states how to continue', async () => {
    await using own = await serve();
    const { api, heddle } = own;
    const push = (texts: readonly string[]) =>
      api.call('POST', '/api/config/apply', { source: 'team', files: [{ path: 't.yaml', text: texts.join('---\n') }] });
    await push([ops]);
    await push([ops, ...Array.from({ length: 8 }, (_, at) => doc('Group', `g${at}`, `name: g${at}`))]);
    const stopped = await heddle(['rollback', '2', '--auto-approve']);
    expect([stopped.code, stopped.note]).toEqual([
      3,
      expect.stringMatching(/heddle apply \w{20} --approve [0-9a-f]{64}/),
    ]);
    const [, id = '', digest = ''] = /heddle apply (\w{20}) --approve ([0-9a-f]{64})/.exec(stopped.note) ?? [];
    expect((await heddle(['apply', id, '--approve', digest, '--auto-approve'])).code).toBe(0);
  });

  it('names everything that is missing and exits with 4 (E112)', async () => {
    await using own = await serve();
    const { api, heddle } = own;
    const manual = await api.group('hand');
    const policy = doc(
      'Policy',
      'web',
      'rules: [{name: r, action: accept, protocol: all, sources: [hand], destinations: [hand]}]',
    );
    const push = (texts: readonly string[]) =>
      api.call('POST', '/api/config/apply', { source: 'team', files: [{ path: 't.yaml', text: texts.join('---\n') }] });
    await push([policy, ops]);
    await push([ops]);
    await api.call('DELETE', `/api/groups/${manual}`);
    const refused = await heddle(['rollback', '3', '--auto-approve']);
    expect([refused.code, refused.note]).toEqual([4, expect.stringContaining('Group hand')]);
  });
});
