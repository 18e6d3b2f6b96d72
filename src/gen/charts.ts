import { writeYaml } from '../documents/write.ts';
import { asObject, type JsonObject } from '../lib/json.ts';
import type { Registry } from '../model/declare/registry.ts';
import { allDefinitions } from '../model/lower/crd/all.ts';
import { chartReadme } from './chart-values.ts';
import { type Files, generatedNotice } from './files.ts';

const charts = ['charts/heddle', 'charts/heddle-crds'];

/** What the charts take from elsewhere: versions from the program, CRDs from the declarations, the table of values from them. */
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
