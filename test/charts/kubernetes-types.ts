import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Manifest } from './render.ts';

const resolve = createRequire(import.meta.url).resolve;
const types = dirname(resolve('kubernetes-types/package.json'));
const compiler = join(dirname(resolve('typescript/package.json')), 'bin/tsc');

/**
 * Returns the errors in manifests according to the types of Kubernetes: an unknown member, a missing member, or a value
 * of the wrong type. The compiler compares the manifests with the published types, so no cluster is needed.
 */
export function typeFaults(manifests: readonly Manifest[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-manifests-'));
  try {
    const statements = manifests.map(
      (manifest, index) => `const m${index}: ${typeOf(manifest)} = ${literal(manifest)};`,
    );
    writeFileSync(join(folder, 'manifests.ts'), `${statements.join('\n')}\nexport {};\n`);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['manifests.ts'] }));
    const { stdout } = spawnSync(process.execPath, [compiler, '--project', folder, '--pretty', 'false'], {
      encoding: 'utf8',
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const options = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  module: 'esnext',
  moduleResolution: 'bundler',
  types: [],
};

/**
 * Returns the TypeScript type of a manifest: the type named after its kind, in the file of its API group and version.
 */
function typeOf({ apiVersion, kind }: Manifest): string {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  const [area] = group.split('.');
  return `import(${JSON.stringify(`${types}/${area}/${version}`)}).${kind}`;
}

/** Formats a manifest with indentation, so that the line of a compiler error shows the member. */
function literal(manifest: Manifest): string {
  return JSON.stringify(manifest, null, 1);
}
