import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceFile } from '../../src/model/document.ts';

/** Options for generating documents. The same options always give the same documents. */
export interface GenerateOptions {
  readonly documentsPerFile?: number;
  /** Text added to names and descriptions, so that two sets of documents differ in every document, but in no key. */
  readonly variant?: string;
  /**
   * Number of peers (`peer-0` and so on), of which each group has one. With peers, the policies of a variant also have
   * another port. Default: groups without peers.
   */
  readonly peers?: number;
}

/**
 * Generates the files of a realistic account: of each 100 documents, 10 are groups, 65 policies with two rules, 5
 * zones, 10 records and 10 routes, with 300 references in total. `documents` should be a multiple of 100.
 */
export function generateFiles(documents: number, options: GenerateOptions = {}): readonly SourceFile[] {
  const { documentsPerFile = 20, variant = '', peers = 0 } = options;
  const texts = Array.from({ length: documents }, (_, at) => documentText(at, documents, { variant, peers }));
  const files: SourceFile[] = [];
  for (let start = 0; start < texts.length; start += documentsPerFile) {
    const name = `part-${String(files.length).padStart(5, '0')}.yaml`;
    files.push({ path: name, text: texts.slice(start, start + documentsPerFile).join('---\n') });
  }
  return files;
}

/** Writes the files into a directory. Creates the directory when it is missing. */
export async function writeFiles(directory: string, files: readonly SourceFile[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const { path, text } of files) await writeFile(join(directory, path), text);
}

/** Generates one file with the documents of `count` groups. */
export function generateGroups(count: number): SourceFile {
  const texts = Array.from({ length: count }, (_, at) => groupText(at, { variant: '', peers: 0 }));
  return { path: 'groups.yaml', text: texts.join('---\n') };
}

type Settings = Required<Pick<GenerateOptions, 'variant' | 'peers'>>;

function documentText(at: number, documents: number, settings: Settings): string {
  const { variant } = settings;
  const groups = Math.floor(documents / 10);
  const [hundred, remainder] = [Math.floor(at / 100), at % 100];
  const group = (step: number) => `group-${(at * 7 + step * 13) % groups}`;
  if (remainder < 10) return groupText(hundred * 10 + remainder, settings);
  if (remainder < 75) return policyText(hundred * 65 + remainder - 10, group, settings);
  if (remainder < 80) return zoneText(hundred * 5 + remainder - 75, group, variant);
  if (remainder < 90) return recordText(hundred * 10 + remainder - 80, variant);
  return routeText(hundred * 10 + remainder - 90, group, variant);
}

type PickGroup = (step: number) => string;

function head(kind: string, name: string): string {
  return `apiVersion: heddle.dev/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\nspec:\n`;
}

function groupText(n: number, { variant, peers }: Settings): string {
  const members = peers === 0 ? '' : `  peers: [peer-${n % peers}]\n`;
  return `${head('Group', `group-${n}`)}  name: Group ${n}${variant}\n${members}`;
}

function policyText(n: number, group: PickGroup, { variant, peers }: Settings): string {
  const first = peers > 0 && variant !== '' ? 2 : 1;
  const rule = (name: string, port: number, step: number) => `    - name: ${name}
      action: accept
      protocol: tcp
      ports: ["${port}"]
      sources: [${group(step)}]
      destinations: [${group(step + 1)}]
`;
  return `${head('Policy', `policy-${n}`)}  name: Policy ${n}
  description: Generated${variant}.
  rules:
${rule('web', first + (n % 65_000), 0)}${rule('database', 5432, 2)}`;
}

function zoneText(n: number, group: PickGroup, variant: string): string {
  return `${head('DNSZone', `zone-${n}`)}  name: Zone ${n}${variant}
  domain: ${zoneDomain(n)}
  distribution_groups: [${group(0)}, ${group(1)}]
`;
}

function zoneDomain(n: number): string {
  return `zone-${n}.example.com`;
}

function recordText(n: number, variant: string): string {
  const zone = Math.floor(n / 2);
  return `${head('DNSRecord', `record-${n}`)}  zone: zone-${zone}
  name: host-${n}.${zoneDomain(zone)}
  type: A
  content: 10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}
  ttl: ${variant === '' ? 300 : 301}
`;
}

function routeText(n: number, group: PickGroup, variant: string): string {
  return `${head('Route', `route-${n}`)}  network_id: network-${n}
  description: Generated${variant}.
  network: 10.${(n >> 8) & 255}.${n & 255}.0/24
  peer_groups: [${group(0)}]
  groups: [${group(1)}]
`;
}
