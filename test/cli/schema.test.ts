import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as kinds from '../../src/kinds/index.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { anyDocumentSchema } from '../../src/model/lower/editor.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { runHere } from './collect.ts';

const examples = fileURLToPath(new URL('../../examples/kinds', import.meta.url));
const registry = createRegistry(Object.values(kinds));

function compile(schema: object) {
  const ajv = new Ajv({
    strict: true,
    allErrors: true,
    strictRequired: false,
    allowUnionTypes: true,
    strictTypes: false,
  });
  for (const keyword of ['x-ref', 'x-merge', 'x-literal']) ajv.addKeyword({ keyword });
  return ajv.compile(schema);
}

describe('the JSON schema for editors', () => {
  const check = compile(anyDocumentSchema(registry));

  test('accepts the example of every kind', async () => {
    for (const file of await readdir(examples)) {
      for (const document of parseAllDocuments(await readFile(join(examples, file), 'utf8'))) {
        expect(check(document.toJS()), `${file}: ${JSON.stringify(check.errors)}`).toBe(true);
      }
    }
  });

  test.each([
    ['an unknown field', { kind: 'Group', metadata: { name: 'a' }, spec: { nmae: 'A' } }],
    ['an unknown kind', { kind: 'Gruop', metadata: { name: 'a' }, spec: {} }],
    ['an unknown member of metadata', { kind: 'Group', metadata: { name: 'a', nam: 'b' }, spec: {} }],
    ['a wrong type', { kind: 'Group', metadata: { name: 'a' }, spec: { peers: 'x' } }],
  ])('refuses %s', (_, document) => {
    expect(check({ apiVersion: 'heddle.dev/v1', ...document })).toBe(false);
  });
});

describe('heddle schema', () => {
  test('prints the schema of all documents, or of one kind with --kind', async () => {
    const all = JSON.parse((await runHere(['schema'])).out);
    expect(Object.keys(all.definitions)).toContain('Policy');
    const one = JSON.parse((await runHere(['schema', '--kind', 'policy'])).out);
    expect(one).toMatchObject({ title: 'Policy', properties: { kind: { const: 'Policy' } } });
  });

  test('writes a file for each kind and one for all kinds with --dir', async () => {
    const directory = await temporaryDirectory();
    const { code } = await runHere(['schema', '--dir', join(directory, 'schemas')]);
    expect(code).toBe(0);
    const files = await readdir(join(directory, 'schemas'));
    expect(files).toEqual(expect.arrayContaining(['heddle.json', 'group.json', 'dnszone.json']));
  });

  test('refuses an unknown kind and suggests the nearest one', async () => {
    const { code, note } = await runHere(['schema', '--kind', 'Grup']);
    expect(code).toBe(1);
    expect(note).toContain('did you mean Group?');
  });
});

describe('heddle completion', () => {
  test('prints a bash script that completes commands, subcommands and flags', async () => {
    const { out } = await runHere(['completion', 'bash']);
    const complete = (...words: readonly string[]) => {
      const line = words.map((word) => `'${word}'`).join(' ');
      const script = `${out}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _heddle; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split('\n');
    };
    expect(complete('heddle', 'appl')).toEqual(['apply']);
    expect(complete('heddle', 'secrets', '')).toEqual(['key', 'rotate']);
    expect(complete('heddle', 'plan', '--detailed')).toEqual(['--detailed-exitcode']);
    expect(complete('heddle', 'secrets', 'rotate', '--ser')).toEqual(['--server']);
    expect(complete('heddle', 'proxy', '')).toEqual(['token', 'simulate']);
    expect(complete('heddle', 'proxy', 'token', '')).toEqual(['create', 'list', 'revoke']);
    expect(complete('heddle', 'proxy', 'token', 'create', '--exp')).toEqual(['--expires-in']);
  });

  test.each(['zsh', 'fish'])('prints a script for %s that names every command', async (shell) => {
    const { out } = await runHere(['completion', shell]);
    for (const word of ['apply', 'secrets', 'rotate', 'completion']) expect(out).toContain(word);
  });

  test('refuses an unsupported shell', async () => {
    const { code, note } = await runHere(['completion', 'tcsh']);
    expect(code).toBe(1);
    expect(note).toContain('choose bash, zsh or fish');
  });
});
