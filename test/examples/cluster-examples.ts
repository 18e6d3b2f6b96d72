import { fileURLToPath } from 'node:url';
import { kustomize } from '../charts/helm.ts';
import { type Manifest, readManifests } from '../charts/render.ts';

/** The folder of the examples for clusters. */
export const exampleFolder = fileURLToPath(new URL('../../examples/kubernetes/', import.meta.url));

/** Returns all manifests that `kubectl apply -k examples/kubernetes` applies. */
export async function appliedExamples(): Promise<readonly Manifest[]> {
  return readManifests(await kustomize('examples/kubernetes'));
}
