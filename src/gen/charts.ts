import { writeYaml } from '../documents/write.ts';
import { asObject, type JsonObject } from '../lib/json.ts';
import type { Registry } from '../model/declare/registry.ts';
import { allDefinitions } from '../model/lower/crd/all.ts';
import { type Files, generatedNotice } from './files.ts';

const charts = ['charts/heddle/Chart.yaml', 'charts/heddle-crds/Chart.yaml'];

/** What the charts take from elsewhere: their versions from the program, the CRDs from the declarations. */
export function chartFiles(registry: Registry, version: string, read: (path: string) => string | undefined): Files {
  const versioned = charts.map((path) => [path, withVersion(read(path), path, version)] as const);
  const crds = [...allDefinitions(registry)].map(
    ([plural, crd]) => [`charts/heddle-crds/files/${plural}.yaml`, crdText(crd)] as const,
  );
  return new Map([...versioned, ...crds]);
}

/** A Chart.yaml is written by hand, but for its two versions. */
function withVersion(text: string | undefined, path: string, version: string): string {
  if (text === undefined || !/^version: /m.test(text) || !/^appVersion: /m.test(text))
    throw new Error(`${path} has no place for the version; write the lines \`version: 0\` and \`appVersion: "0"\``);
  return text.replace(/^version: .*$/m, `version: ${version}`).replace(/^appVersion: .*$/m, `appVersion: "${version}"`);
}

/** The CRD as in `crds/`, and marked to stay: deleting it deletes every object of its kind. */
function crdText(crd: JsonObject): string {
  const annotations = { 'helm.sh/resource-policy': 'keep' };
  // Every object of Kubernetes has metadata.
  return writeYaml({ ...crd, metadata: { ...asObject(crd['metadata']), annotations } }, generatedNotice);
}
