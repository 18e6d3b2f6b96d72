import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { doc } from '../api/documents.ts';
import { temporaryDirectory } from '../setup/database.ts';
import type { Served } from './served.ts';

/** Creates a directory with the document of a group. */
export async function documents(name: string): Promise<string> {
  const folder = join(await temporaryDirectory(), name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), doc('Group', name, '{}'));
  return folder;
}

/** Returns the names of all groups, sorted. */
export async function groupsOf({ api }: Served): Promise<readonly string[]> {
  const { body } = await api.call('GET', '/api/groups');
  return body.map(({ name }: { readonly name: string }) => name).sort();
}
