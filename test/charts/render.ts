import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type HelmRun, helm } from './helm.ts';

/** A Kubernetes object that a template rendered. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // Other members are read by path. The types of Kubernetes define their form.
  readonly [member: string]: unknown;
}

/** Options for rendering a chart. */
export interface RenderOptions {
  readonly chart?: string;
  /** Names of files in test/charts/values. */
  readonly values?: readonly string[];
  /** Values that take precedence over those of the files. */
  readonly over?: object;
  readonly args?: readonly string[];
  /** Third-party kinds that the cluster supports. */
  readonly kinds?: readonly string[];
  readonly kubeconfig?: string;
}

/** Third-party kinds of which the chart renders objects, as helm names them. */
export const foreignKinds = [
  'gateway.networking.k8s.io/v1/HTTPRoute',
  'monitoring.coreos.com/v1/PrometheusRule',
  'monitoring.coreos.com/v1/ServiceMonitor',
];

/** Returns whether an object is of a third-party kind. */
export function isForeign({ apiVersion, kind }: Manifest): boolean {
  return foreignKinds.includes(`${apiVersion}/${kind}`);
}

/** Renders a chart as the release `office` in the namespace `mesh`. */
export async function render(options: RenderOptions = {}): Promise<readonly Manifest[]> {
  const { code, out, err } = await template(options);
  if (code !== 0) throw new Error(err);
  return readManifests(out);
}

/** Returns helm's message when it refuses the values. Throws when the chart is rendered. */
export async function refusal(options: RenderOptions): Promise<string> {
  const { code, out, err } = await template(options);
  if (code === 0) throw new Error(`the chart was rendered:\n${out}`);
  return err.replace(/^Error: (?:execution error at \([^)]*\): )?/, '').replace(/\n\nUse --debug.*$/s, '');
}

/** Returns the only object of a kind whose name ends with `suffix`. Throws when there is not exactly one. */
export function only(manifests: readonly Manifest[], kind: string, suffix = ''): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name.endsWith(suffix));
  if (found.length !== 1 || found[0] === undefined) throw new Error(`there are ${found.length} of ${kind} ${suffix}`);
  return found[0];
}

/**
 * Returns the value at a path such as `spec.template.spec.containers.0`. Returns `undefined` when a member is missing.
 */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce((found: unknown, step) => {
    // The cast is safe for every value: a member that does not exist is `undefined`.
    return (found as Readonly<Record<string, unknown>> | undefined)?.[step];
  }, value);
}

/** Parses the objects in the output of a chart or in a file. Throws on any YAML error or warning. */
export function readManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    return document.contents === null ? [] : [document.toJS() as Manifest];
  });
}

/** Calls helm with the flags for the values of these options. */
export async function withValues(
  { values = [], over = {} }: RenderOptions,
  call: (flags: readonly string[]) => Promise<HelmRun>,
): Promise<HelmRun> {
  const files = values.map((name) => `test/charts/values/${name}.yaml`);
  const folder = mkdtempSync(join(tmpdir(), 'heddle-values-'));
  try {
    const last = join(folder, 'values.json');
    writeFileSync(last, JSON.stringify(over));
    return await call([...files, last].flatMap((file) => ['--values', file]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function template(options: RenderOptions): Promise<HelmRun> {
  const { chart = 'charts/heddle', args = [], kinds = foreignKinds, kubeconfig } = options;
  const known = kinds.flatMap((kind) => ['--api-versions', kind]);
  return withValues(options, (flags) =>
    helm(['template', 'office', chart, '--namespace', 'mesh', ...flags, ...known, ...args], kubeconfig),
  );
}
