import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asObject, asObjects, asTexts, type JsonObject } from '../../lib/json.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * The bill of materials of an executable in CycloneDX: the packages of its bundle, of all that npm knows from the lock
 * file, and the Node that it is made of. Asks no registry.
 */
export function billOfMaterials(packages: readonly string[]): JsonObject {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const { stdout, status } = spawnSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error('npm cannot list the packages; `npm sbom --sbom-format cyclonedx` shows why');
  const bill = asObject(JSON.parse(stdout));
  const names = new Set(packages.map(nameOf));
  const components = asObjects(bill['components']).filter((item) => names.has(`${item['name']}@${item['version']}`));
  const metadata = asObject(bill['metadata']);
  const self = { ...asObject(metadata['component']), name: 'heddle', properties: [] };
  const refs = new Set([self, ...components].map((item: JsonObject) => item['bom-ref']));
  const dependencies = asObjects(bill['dependencies'])
    .filter((edge) => refs.has(edge['ref']))
    .map((edge) => ({ ...edge, dependsOn: asTexts(edge['dependsOn']).filter((name) => refs.has(name)) }));
  return {
    ...bill,
    // npm describes what it would install, and this what was built.
    metadata: { ...metadata, lifecycles: [{ phase: 'build' }], component: self },
    // What npm knows of them as tools of this project says nothing of the executable.
    components: [...components.map((item) => ({ ...item, scope: 'required', properties: [] })), node()],
    dependencies: [...dependencies, { ref: node()['bom-ref'], dependsOn: [] }],
  };
}

function node() {
  const { node: version } = process.versions;
  return {
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    scope: 'required',
    purl: `pkg:generic/node@${version}`,
    licenses: [{ license: { id: 'MIT' } }],
  };
}

function nameOf(folder: string): string {
  const { name, version } = asObject(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')));
  return `${name}@${version}`;
}
