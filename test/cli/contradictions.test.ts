import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../setup/database.ts';
import { sharedServer } from './served.ts';

const server = sharedServer();

/**
 * Returns a function that applies a policy as a source, without a description when it is empty, and returns the result
 * of the command.
 */
async function applier() {
  const directory = await temporaryDirectory();
  return async (source: string, description: string, ...flags: readonly string[]) => {
    const path = join(directory, `${source}.yaml`);
    const rule = '{name: r, action: accept, protocol: all, sources: [All], destinations: [All]}';
    const text = `apiVersion: heddle.dev/v1\nkind: Policy\nmetadata: {name: p}\nspec:\n  rules: [${rule}]\n`;
    await writeFile(path, description === '' ? text : `${text}  description: ${description}\n`);
    return server().heddle(['apply', path, '--source-name', source, '--auto-approve', ...flags]);
  };
}

async function statesOfSources(): Promise<unknown> {
  const { document } = await server().json('sources');
  const sources: readonly { readonly id: string; readonly status?: { readonly state?: string } }[] = document.sources;
  return Object.fromEntries(sources.map(({ id, status }) => [id, status?.state]));
}

it('E45 contradicting pushes of two sources are refused when they would change the value, until one withdraws', async () => {
  const apply = await applier();
  expect([(await apply('a', 'ours')).code, (await apply('b', '')).code]).toEqual([0, 0]);
  expect((await apply('b', 'theirs')).code).toBe(4);
  const refused = await apply('a', 'a third');
  expect([refused.code, refused.note]).toEqual([
    4,
    expect.stringContaining('claimed with another value by the source b'),
  ]);
  expect(await statesOfSources()).toEqual({ a: 'conflicted', b: 'conflicted' });
  // Applying the current value again conflicts with no other source.
  expect((await apply('a', 'ours')).code).toBe(0);
  expect(await statesOfSources()).toEqual({ a: undefined, b: 'conflicted' });
  expect((await server().heddle(['sources'])).out).toContain(
    'its rejected push contradicts other sources and is not applied until they agree: description of Policy p',
  );
  // The account already has the remaining values of `b`, so no change is written. The conflict with the other source
  // ends nevertheless.
  expect(await apply('b', '')).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
  expect(await apply('a', 'ours')).toMatchObject({ code: 0, out: expect.stringContaining('No changes') });
  expect(await statesOfSources()).toEqual({ a: undefined, b: undefined });
});
