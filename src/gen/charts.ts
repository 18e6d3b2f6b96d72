import { writeYaml } from '../documents/write.ts';
import { asObject, type JsonObject } from '../lib/json.ts';
import type { Registry } from '../model/declare/registry.ts';
import { allDefinitions } from '../model/lower/crd/all.ts';
import { chartReadme } from './chart-values.ts';
import { type Files, generatedNotice } from './files.ts';

const charts = ['charts/heddle', 'charts/heddle-crds'];

/**
 * Returns the generated files of the charts: `Chart.yaml` with the program's version, READMEs with the tables of
 * values, and the CRDs.
 */
export function chartFiles(registry: Registry, version: string, read: (path: string) => string | undefined): Files {
  const versioned = charts.map((chart) => {
    const path = `${chart}/Chart.yaml`;
    return [path, withVersion(read(path), path, version)] as const;
  });
  const readmes = charts.map((chart) => {
    const [readme = '', values = '', schema = ''] = ['README.md', 'values.yaml', 'values.schema.json'].map((file) =>
      read(`${chart}/${file}`),
    );
    return [`${chart}/README.md`, chartReadme(readme, values, schema)] as const;
  });
  const crds = [...allDefinitions(registry)].map(
    ([plural, crd]) => [`charts/heddle-crds/files/${plural}.yaml`, crdText(crd)] as const,
  );
  return new Map([...versioned, ...readmes, ...crds]);
}

/** Sets the two versions in a `Chart.yaml`, which is otherwise written by hand. */
function withVersion(text: string | undefined, path: string, version: string): string {
  if (text === undefined || !/^version: /m.test(text) || !/^appVersion: /m.test(text))
    throw new Error(`${path} has no place for the version; write the lines \`version: 0\` and \`appVersion: "0"\``);
  return text.replace(/^version: .*$/m, `version: ${version}`).replace(/^appVersion: .*$/m, `appVersion: "${version}"`);
}

/**
 * Returns the CRD as in `crds/`, with an annotation by which Helm keeps it: deleting a CRD deletes every object of its
 * kind.
 */
function crdText(crd: JsonObject): string {
  const annotations = { 'helm.sh/resource-policy': 'keep' };
  // Every Kubernetes object has `metadata`.
  return writeYaml({ ...crd, metadata: { ...asObject(crd['metadata']), annotations } }, generatedNotice);
}
