import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type Client, createClient } from '../../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../../src/kubernetes/connection.ts';
import { createPacer } from '../../../src/kubernetes/pacer.ts';
import type { Resource } from '../../../src/kubernetes/resource.ts';
import { asObjectOrEmpty, type JsonObject } from '../../../src/lib/json.ts';
import { pluralOf } from '../../../src/model/lower/crd/names.ts';
import { installDefinitions } from '../../kubernetes/definitions.ts';
import { startApiServer } from '../../kubernetes/server.ts';
import { generateFiles } from '../../setup/generate.ts';
import { type Audit, prepareAudit } from './audit.ts';

/** Namespace of all generated resources. */
export const namespace = 'bench';

/** An API server with generated resources in one namespace. */
export interface FilledCluster extends AsyncDisposable {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly audit: Audit;
  /** Throws unless every resource is Ready in its current generation. */
  mustBeReady(): Promise<void>;
}

/** Starts an API server and creates the resources. */
export async function openCluster(directory: string, resources: number): Promise<FilledCluster> {
  const audit = await prepareAudit(await mkdtemp(join(directory, 'audit-')));
  const server = await startApiServer({ flags: audit.flags });
  const client = createClient({ connection: await connectByKubeconfig(server.kubeconfig), fieldManager: 'bench' });
  await installDefinitions(client);
  const metadata = { name: namespace };
  await client.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  const objects = generateFiles(resources).flatMap(({ text }) =>
    parseAllDocuments(text).map((document): JsonObject => document.toJS()),
  );
  const pacer = createPacer({ atOnce: 16, perSecond: 2000 });
  await Promise.all(objects.map((object) => pacer.run(() => client.create(pathOf(String(object['kind'])), object))));
  const kinds = [...new Set(objects.map(({ kind }) => String(kind)))];
  return {
    ...{ client, audit, kubeconfig: server.kubeconfig },
    async mustBeReady() {
      const found = (await Promise.all(kinds.map((kind) => listAll(client, pathOf(kind))))).flat();
      const ready = found.filter(isReady);
      if (ready.length < resources) throw new Error(`of ${resources} resources ${ready.length} are Ready`);
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Returns the path of all resources of a kind, or of the resource with this name. */
export function pathOf(kind: string, name?: string): string {
  const list = `/apis/heddle.dev/v1/namespaces/${namespace}/${pluralOf(kind)}`;
  return name === undefined ? list : `${list}/${name}`;
}

/** Whether a resource is Ready in its current generation. */
export function isReady({ metadata, status }: Resource): boolean {
  const { conditions, observedGeneration } = asObjectOrEmpty(status);
  const ready = Array.isArray(conditions) && conditions.map(asObjectOrEmpty).find(({ type }) => type === 'Ready');
  return ready !== false && ready?.['status'] === 'True' && observedGeneration === metadata.generation;
}

async function listAll(client: Client, path: string): Promise<readonly Resource[]> {
  const found: Resource[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(path, next);
    found.push(...page.items);
    next = page.next;
  } while (next !== undefined);
  return found;
}
