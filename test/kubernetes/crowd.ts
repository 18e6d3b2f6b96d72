import type { Engine } from '../../src/commit/engine.ts';
import type { Client } from '../../src/kubernetes/client.ts';
import { createPacer } from '../../src/kubernetes/pacer.ts';
import type { Resource } from '../../src/kubernetes/resource.ts';
import { asObjectOrEmpty, type JsonObject } from '../../src/lib/json.ts';

/** Groups in a namespace on an API server, for tests with many resources. */
export interface Crowd {
  readonly namespace: string;
  at(name: string): string;
  /** Creates the namespace. */
  begin(): Promise<void>;
  put(name: string, spec?: JsonObject): Promise<unknown>;
  /** Applies many groups concurrently, as `kubectl apply` of a directory does. */
  putAll(names: readonly string[], spec?: (name: string) => JsonObject): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  list(): Promise<readonly Resource[]>;
  /**
   * Returns the differences between the account and the resources, and errors in the status of the resources; empty
   * when there are none.
   */
  mismatches(engine: Engine, account: string): Promise<readonly string[]>;
}

/** Creates a `Crowd` for a namespace on an API server. */
export function crowdOf(client: Client, namespace: string): Crowd {
  const at = (name: string) => `/apis/heddle.dev/v1/namespaces/${namespace}/groups/${name}`;
  const pacer = createPacer({ atOnce: 16, perSecond: 2000 });
  const put = (name: string, spec: JsonObject = {}) =>
    client.apply(at(name), { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name }, spec });
  const list = async (): Promise<readonly Resource[]> => {
    const found: Resource[] = [];
    let next: string | undefined;
    do {
      const page = await client.list(at('').slice(0, -1), next);
      found.push(...page.items);
      next = page.next;
    } while (next !== undefined);
    return found;
  };
  return {
    namespace,
    at,
    put,
    list,
    async begin() {
      const metadata = { name: namespace };
      await client.apply(`/api/v1/namespaces/${namespace}`, { apiVersion: 'v1', kind: 'Namespace', metadata });
    },
    async putAll(names, spec = () => ({})) {
      await Promise.all(names.map((name) => pacer.run(() => put(name, spec(name)))));
    },
    async remove(names) {
      await Promise.all(names.map((name) => pacer.run(() => client.delete(at(name)))));
    },
    async mismatches(engine, account) {
      const state = await engine.snapshots.fresh(account);
      const resources = await list();
      const names = new Set(resources.map(({ metadata: { name } }) => name));
      const made = state.ofKind('Group').flatMap(({ key }) => key ?? []);
      return [
        ...made.filter((key) => !names.has(key)).map((key) => `${key} is an object without a resource`),
        ...resources.flatMap((resource) => {
          const { name } = resource.metadata;
          const object = state.findByKey('Group', name);
          if (object === undefined) return `${name} is a resource without an object`;
          const expected = asObjectOrEmpty(resource.spec)['name'] ?? name;
          const isSame = object.spec['name'] === expected;
          return [...(isSame ? [] : [`${name} is stated otherwise`]), ...faultsOf(resource, object.id)];
        }),
      ];
    },
  };
}

function faultsOf({ metadata: { name, generation }, status }: Resource, objectId: string): readonly string[] {
  const { id, observedGeneration, conditions } = asObjectOrEmpty(status);
  const ready = Array.isArray(conditions)
    ? conditions.map(asObjectOrEmpty).find(({ type }) => type === 'Ready')
    : undefined;
  if (ready?.['status'] !== 'True') return [`${name} is not Ready`];
  if (observedGeneration !== generation) return [`${name} shows the status of an earlier generation`];
  return id === objectId ? [] : [`${name} shows the id of something else`];
}
