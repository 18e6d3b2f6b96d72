import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asObject, asObjects, asTexts, type JsonObject } from '../../lib/json.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Returns the bill of materials (CycloneDX) of an executable: the bundled packages, as npm knows them from the lock
 * file, and the running Node, which is in it. Queries no registry.
 */
export function billOfMaterials(executable: string, packages: readonly string[]): JsonObject {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const { stdout, status } = spawnSync('npm', words, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error('npm cannot list the packages; `npm sbom --sbom-format cyclonedx` shows why');
  const bill = asObject(JSON.parse(stdout));
  const names = new Set(packages.map(nameWithVersion));
  const components = asObjects(bill['components']).filter((item) => names.has(`${item['name']}@${item['version']}`));
  const metadata = asObject(bill['metadata']);
  const self = { ...asObject(metadata['component']), name: 'heddle', hashes: hashesOf(executable), properties: [] };
  const node = nodeComponent();
  const refs = new Set([self, ...components].map((item: JsonObject) => item['bom-ref']));
  const dependencies = asObjects(bill['dependencies'])
    .filter((edge) => refs.has(edge['ref']))
    .map((edge) => ({ ...edge, dependsOn: asTexts(edge['dependsOn']).filter((name) => refs.has(name)) }));
  return {
    ...bill,
    // npm describes what it would install; this bill describes what was built.
    metadata: { ...metadata, lifecycles: [{ phase: 'build' }], component: self },
    // npm's scope and properties describe the packages as dependencies of this project, not of the executable.
    components: [...components.map((item) => ({ ...item, scope: 'required', properties: [] })), node],
    dependencies: [...dependencies, { ref: node['bom-ref'], dependsOn: [] }],
  };
}

/**
 * Returns the component of Node. Its hash is that of the program as it was published, before Heddle was added to it.
 */
function nodeComponent() {
  const { node: version } = process.versions;
  return {
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    scope: 'required',
    purl: `pkg:generic/node@${version}`,
    hashes: hashesOf(process.execPath),
    licenses: [{ license: { id: 'MIT' } }],
  };
}

function hashesOf(path: string) {
  return [{ alg: 'SHA-256', content: digestOf(path) }];
}

/** Returns the SHA-256 digest of a file, in hexadecimal. */
export function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function nameWithVersion(folder: string): string {
  const { name, version } = asObject(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')));
  return `${name}@${version}`;
}
