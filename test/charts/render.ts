import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type HelmRun, helm } from './helm.ts';

/** A Kubernetes object, as a template gave it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // The rest is looked at by path; its form is what the types of Kubernetes say.
  readonly [member: string]: unknown;
}

/** How a chart is rendered. */
export interface RenderOptions {
  readonly chart?: string;
  /** Names of files in test/charts/values. */
  readonly values?: readonly string[];
  /** Values that win over those of the files. */
  readonly over?: object;
  readonly args?: readonly string[];
  /** Kinds of others that the cluster has. */
  readonly kinds?: readonly string[];
  readonly kubeconfig?: string;
}

/** Kinds of others that the chart makes objects of, as helm knows them. */
export const foreignKinds = [
  'gateway.networking.k8s.io/v1/HTTPRoute',
  'monitoring.coreos.com/v1/PrometheusRule',
  'monitoring.coreos.com/v1/ServiceMonitor',
];

/** Whether an object is of one of these kinds. */
export function isForeign({ apiVersion, kind }: Manifest): boolean {
  return foreignKinds.includes(`${apiVersion}/${kind}`);
}

/** Renders a chart as the release `office` in the namespace `mesh`. */
export async function render(options: RenderOptions = {}): Promise<readonly Manifest[]> {
  const { code, out, err } = await template(options);
  if (code !== 0) throw new Error(err);
  return readManifests(out);
}

/** What helm says when it refuses the values; fails when it does not. */
export async function refusal(options: RenderOptions): Promise<string> {
  const { code, out, err } = await template(options);
  if (code === 0) throw new Error(`the chart was rendered:\n${out}`);
  return err.replace(/^Error: (?:execution error at \([^)]*\): )?/, '').replace(/\n\nUse --debug.*$/s, '');
}

/** The only object of a kind; its name's end tells it from others. */
export function only(manifests: readonly Manifest[], kind: string, suffix = ''): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name.endsWith(suffix));
  if (found.length !== 1 || found[0] === undefined) throw new Error(`there are ${found.length} of ${kind} ${suffix}`);
  return found[0];
}

/** The value at a path such as `spec.template.spec.containers.0`. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce((found: unknown, step) => {
    // Whatever it is: a member that is not there is absent.
    return (found as Readonly<Record<string, unknown>> | undefined)?.[step];
  }, value);
}

/** Reads what a chart or a file holds, strictly. */
export function readManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    return document.contents === null ? [] : [document.toJS() as Manifest];
  });
}

/** Calls helm with the flags that name the values of these options. */
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
