import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { doc } from '../api/documents.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);
const group = (at: number) => doc('Group', `team-${at}`, '{}');
const policy = (at: number) =>
  doc(
    'Policy',
    `allow-${at}`,
    `rules: [{name: all, action: accept, protocol: all, sources: [team-${at}], destinations: [All]}]`,
  );

/** Writes twelve groups and a policy for each, except those in `without`. Returns the directory. */
function documents(directory: string, without: readonly number[]): string {
  mkdirSync(directory);
  const kept = upTo(12).filter((at) => !without.includes(at));
  const texts = kept.flatMap((at) => [group(at), policy(at)]);
  writeFileSync(join(directory, 'all.yaml'), texts.join('---\n'));
  return directory;
}

it('deleting 30 % or all of the documents needs approval of its digest; an object in use is kept and its user named', async () => {
  const { api, heddle } = server();
  const home = await temporaryDirectory();
  const apply = (directory: string, ...more: readonly string[]) =>
    heddle(['apply', directory, '--source-name', 'team', '--auto-approve', ...more]);
  const groups = async () =>
    (await api.call('GET', '/api/groups')).body.filter(({ name }: { name: string }) => name.startsWith('team-')).length;
  expect(await apply(documents(join(home, 'whole'), []))).toMatchObject({ code: 0 });
  const used = (await api.call('GET', '/api/groups?name=team-3')).body[0].id;
  const [rule] = [{ name: 'by hand', action: 'accept', protocol: 'all', enabled: true, bidirectional: false }];
  const made = await api.call('POST', '/api/policies', {
    ...{ name: 'By hand', enabled: true, rules: [{ ...rule, sources: [used], destinations: [used] }] },
  });
  expect(made.status).toBe(200);

  // Eight of 24 documents are removed. A policy that was created through the API still uses one of the groups.
  const fewer = documents(join(home, 'fewer'), [0, 1, 2, 3]);
  const before = await api.revision();
  const stopped = await apply(fewer);
  expect(stopped.code).toBe(3);
  const shown = stopped.out + stopped.note;
  for (const name of ['Policy allow-0', 'Policy allow-3', 'Group team-0', 'Group team-2'])
    expect(shown).toContain(`- ${name}`);
  expect(shown).not.toContain('- Group team-3');
  expect(shown).toMatch(/Group team-3 is no longer stated but still in use by .*By hand/);
  expect(shown).toMatch(/deletes 7 of 24 owned objects/);
  expect([await api.revision(), await groups()]).toEqual([before, 12]);

  const [, id = ''] = /heddle approve (\w+)/.exec(stopped.note) ?? [];
  expect(await heddle(['approve', id, '--auto-approve'])).toMatchObject({ code: 0 });
  // A plan that deletes more has another digest, which the approval does not cover.
  const other = await apply(documents(join(home, 'other'), [0, 1, 2, 3, 4]));
  expect([other.code, await api.revision()]).toEqual([3, before]);
  expect(await apply(fewer)).toMatchObject({ code: 0 });
  expect([await api.revision(), await groups()]).toEqual([before + 1, 9]);

  const none = join(home, 'none');
  mkdirSync(none);
  writeFileSync(join(none, 'all.yaml'), '# all of them are gone\n');
  expect(await apply(none)).toMatchObject({ code: 3 });
  const meant = await apply(none, '--allow-empty');
  expect(meant.code).toBe(3);
  const [, digest = ''] = /--approve ([0-9a-f]{64})/.exec(meant.out + meant.note) ?? [];
  expect(await apply(none, '--allow-empty', '--approve', digest)).toMatchObject({ code: 0 });
  expect(await groups()).toBe(1);
});
