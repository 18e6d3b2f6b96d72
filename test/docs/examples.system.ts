import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../setup/database.ts';
import { type Run, runHeddle } from '../setup/heddle.ts';
import { addExamples } from './examples.ts';

const listOperations = `
import { areas } from './src/api/area-routes.ts';
for (const { operations = [] } of areas) for (const { method, path } of operations) console.log(method, path);
`;

// examples.soak.ts checks the types of the examples, because that takes as long as `tsc`.
describe('the examples for contributors', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    await addExamples(directory);
  });

  const run = (launcher: string, ...args: readonly string[]): Promise<Run> =>
    runHeddle(args, { program: { node: process.execPath, launcher: join(directory, launcher), user: {} } });

  test('add a kind that `heddle explain` describes', async () => {
    const { code, out } = await run('src/heddle.js', 'explain', 'Site.groups');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('The groups of the machines there.') });
  });

  test('add an API operation', async () => {
    await writeFile(join(directory, 'operations.ts'), listOperations);
    const { out } = await run('operations.ts');
    expect(out.split('\n')).toContain('GET /api/config/counts/{kind}');
  });

  test('add a source type to the schema of the server settings file', async () => {
    const schemas = join(directory, 'schemas');
    expect((await run('src/heddle.js', 'schema', '--dir', schemas)).code).toBe(0);
    const { properties } = JSON.parse(await readFile(join(schemas, 'heddle-server.json'), 'utf8'));
    expect(properties.sources.items.properties.type.enum).toContain('web');
  });
});
