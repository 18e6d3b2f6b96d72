import { describe, expect, test } from 'vitest';
import { installation, installations } from './before.ts';
import { at, type Manifest, readManifests, render } from './render.ts';

describe.each(installations)('an upgrade of the installation %s', (name) => {
  const { values, objects } = installation(name);
  const before = readManifests(objects);
  const upgraded = () => render({ over: values });

  test('drops no object', async () => {
    const identity = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace} ${metadata.name}`;
    const now = (await upgraded()).map(identity);
    expect(before.map(identity).filter((object) => !now.includes(object))).toEqual([]);
  });

  test('keeps immutable fields and everything that clients or backups rely on', async () => {
    const now = await upgraded();
    const kept = before.map(lasting);
    expect(kept.length).toBeGreaterThan(3);
    expect(before.map((object) => lasting(sameOf(object, now)))).toEqual(kept);
  });

  test('mounts the same claims and Secrets', async () => {
    const mounted = (manifests: readonly Manifest[]) =>
      manifests.flatMap((one) => {
        const volumes = at(one, 'spec.template.spec.volumes') as readonly { readonly name: string }[] | undefined;
        return (volumes ?? []).filter((volume) => ['data', 'secrets', 'values'].includes(volume.name));
      });
    expect(mounted(before).length).toBeGreaterThan(1);
    expect(mounted(await upgraded())).toEqual(mounted(before));
  });
});

function sameOf({ kind, metadata }: Manifest, among: readonly Manifest[]): Manifest {
  const found = among.find((one) => one.kind === kind && one.metadata.name === metadata.name);
  if (found === undefined) throw new Error(`there is no ${kind} ${metadata.name}`);
  return found;
}

/**
 * Returns the members of an object that Kubernetes never changes, or by which a client, a person or a backup identifies
 * it.
 */
function lasting(manifest: Manifest): unknown {
  const { kind, metadata } = manifest;
  const paths: Readonly<Record<string, readonly string[]>> = {
    Deployment: ['spec.selector', 'spec.replicas'],
    Service: ['spec.selector', 'spec.type', 'spec.ports.0.name', 'spec.ports.0.port', 'spec.ports.0.targetPort'],
    PersistentVolumeClaim: ['spec', 'metadata.annotations'],
    Secret: ['type', 'metadata.annotations'],
    ConfigMap: ['data'],
    ClusterRoleBinding: ['roleRef', 'subjects'],
    Ingress: ['spec'],
  };
  const keys = kind === 'Secret' ? Object.keys(Object(manifest['data'])) : [];
  const values = (paths[kind] ?? []).map((path) => at(manifest, path));
  return { kind, name: metadata.name, namespace: metadata.namespace, keys, values };
}
