import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doc } from '../api/documents.ts';
import { directory, expectIgnored, renovate } from './foreign-directory.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();

describe('foreign files beside documents', () => {
  it('are ignored with a note', async () => {
    await expectIgnored(server(), { 'renovate.json': renovate });
  });

  it('are refused with --strict-files, and when they name a misspelt kind', async () => {
    const path = await directory({ 'renovate.json': renovate });
    for (const words of [
      ['validate', path],
      ['plan', path, '--source-name', 'b'],
    ])
      expect((await server().heddle([...words, '--strict-files'])).code).toBe(5);
    const near = await directory({ 'a.yaml': 'apiVersion: v1\nkind: Grup\nmetadata: {name: a}\n' });
    expect((await server().heddle(['validate', near])).code).toBe(5);
    expect((await server().heddle(['plan', near, '--source-name', 'b'])).code).toBe(5);
  });

  it('are refused when they replace applied documents, and nothing is deleted', async () => {
    const path = await directory({ 'a.yaml': doc('Group', 'kept', '{}'), 'b.yaml': doc('Group', 'other', '{}') });
    const apply = () => server().heddle(['apply', path, '--source-name', 'c', '--auto-approve']);
    expect((await apply()).code).toBe(0);
    await writeFile(join(path, 'a.yaml'), renovate);
    const refused = await apply();
    expect([refused.code, refused.out + refused.note]).toEqual([
      5,
      expect.stringContaining(' stated Group kept until now and contains no `apiVersion`'),
    ]);
    expect((await server().heddle(['export', '--kind', 'Group'])).out).toContain('name: kept');
  });

  it('may share a file with documents: objects of a cluster, and objects that servers create there', async () => {
    const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n---\n';
    const source = 'apiVersion: heddle.dev/v1\nkind: Source\nmetadata: {name: k8s, namespace: team-a}\nspec: {}\n---\n';
    const path = await directory({ 'a.yaml': `${secret}${source}${doc('Group', 'beside', '{}')}` });
    const valid = await server().heddle(['validate', path]);
    expect([valid.code, valid.out]).toEqual([
      0,
      expect.stringContaining(
        'Secret of v1, Source of heddle.dev/v1 (in which a server shows a namespace of a cluster) in addition to Heddle documents',
      ),
    ]);
    expect(valid.out).toContain('1 document in 1 file is valid.');
    const strict = await server().heddle(['validate', path, '--strict-files']);
    expect([strict.code, strict.out]).toEqual([5, expect.stringContaining('kind_not_declarable')]);
  });

  it('are refused when a foreign object has the kind and name of an applied document', async () => {
    const both = (group: string) => `${group}---\n${doc('Group', 'stays', '{}')}`;
    const path = await directory({ 'a.yaml': both(doc('Group', 'slipped', '{}')) });
    const apply = () => server().heddle(['apply', path, '--source-name', 'd', '--auto-approve']);
    expect((await apply()).code).toBe(0);
    const other = doc('Group', 'slipped', '{}').replace('heddle.dev/v1', 'example.com/v1');
    await writeFile(join(path, 'a.yaml'), both(other));
    const refused = await apply();
    expect([refused.code, refused.out + refused.note]).toEqual([
      5,
      expect.stringContaining(' stated Group slipped until now and contains Group of example.com/v1'),
    ]);
  });
});
