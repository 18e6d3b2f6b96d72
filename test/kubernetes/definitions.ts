import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Client } from '../../src/kubernetes/client.ts';
import { asObjectOrEmpty, type JsonObject } from '../../src/lib/json.ts';

const folder = fileURLToPath(new URL('../../crds', import.meta.url));
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/**
 * Installs the CustomResourceDefinitions of this repository, and waits until each is established. Returns their names.
 */
export async function installDefinitions(client: Client): Promise<readonly string[]> {
  const files = await readdir(folder);
  return establish(
    client,
    await Promise.all(files.map(async (file) => parse(await readFile(join(folder, file), 'utf8')))),
  );
}

/** Applies CustomResourceDefinitions, and waits until each is established. Returns their names. */
export async function establish(client: Client, stated: readonly JsonObject[]): Promise<readonly string[]> {
  const names: string[] = [];
  for (const definition of stated) {
    const name = String(asObjectOrEmpty(definition['metadata'])['name']);
    names.push(name);
    await client.apply(`${definitions}/${name}`, definition);
  }
  // Does not use vitest's `expect.poll`, because benchmarks install the definitions too.
  const until = performance.now() + 60_000;
  for (const name of names) {
    while ((await conditionsAt(client, `${definitions}/${name}`))['Established'] !== 'True') {
      if (performance.now() > until) throw new Error(`the definition ${name} is not established`);
      await delay(50);
    }
  }
  return names;
}

/** Returns the status of each condition of an object, by condition type. */
export async function conditionsAt(client: Client, path: string): Promise<Readonly<Record<string, string>>> {
  const { status } = await client.get(path);
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly { type: string; status: string }[] };
  return Object.fromEntries(conditions.map((condition) => [condition.type, condition.status]));
}
