import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { parse } from 'yaml';
import type { Client } from '../../src/kubernetes/client.ts';
import { type JsonObject, membersOf } from '../../src/lib/json.ts';

const folder = fileURLToPath(new URL('../../crds', import.meta.url));
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Installs the CustomResourceDefinitions, and waits until each is established. Returns their names. */
export async function installDefinitions(client: Client): Promise<readonly string[]> {
  const files = await readdir(folder);
  return establish(
    client,
    await Promise.all(files.map(async (file) => parse(await readFile(join(folder, file), 'utf8')))),
  );
}

/** Makes CustomResourceDefinitions, and waits until each is established. Returns their names. */
export async function establish(client: Client, stated: readonly JsonObject[]): Promise<readonly string[]> {
  const names: string[] = [];
  for (const definition of stated) {
    const name = String(membersOf(definition['metadata'])['name']);
    names.push(name);
    await client.apply(`${definitions}/${name}`, definition);
  }
  const isEstablished = async (name: string) =>
    expect(await conditionsAt(client, `${definitions}/${name}`)).toMatchObject({ Established: 'True' });
  for (const name of names) await vi.waitFor(() => isEstablished(name), { timeout: 60_000 });
  return names;
}

/** The status of each condition of an object, by its type. */
export async function conditionsAt(client: Client, path: string): Promise<Readonly<Record<string, string>>> {
  const { status } = await client.get(path);
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly { type: string; status: string }[] };
  return Object.fromEntries(conditions.map((condition) => [condition.type, condition.status]));
}
