import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { programVersion } from '../../version.ts';
import { createBaseLayer, createDataLayer, createProgramLayer, createTar, type Layer } from './layers.ts';
import { exitWithError, prepareOutputFolder } from './out.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist-layout') },
    executables: { type: 'string', default: join(root, 'dist-executable') },
  },
});

const ociArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** Path of the executable of this version for this machine. */
const executable = join(resolve(values.executables), `heddle-${programVersion()}-linux-${process.arch}`);
if (!existsSync(executable))
  exitWithError(
    'There is no executable for this machine to build an image from: run `npm run build:executable` first.',
  );
writeLayout(resolve(values.out), executable);

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Writes the image as an OCI layout, whose parts are named by digest. Needs neither a daemon nor a base image. */
function writeLayout(out: string, program: string): void {
  prepareOutputFolder(out, 'oci-layout');
  mkdirSync(join(out, 'blobs/sha256'), { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'heddle-layers-'));
  try {
    const made = [createBaseLayer, createDataLayer, (folder: string) => createProgramLayer(folder, program)].map(
      (fill, at) => {
        const folder = join(work, String(at));
        mkdirSync(folder);
        return writeLayer(out, fill(folder));
      },
    );
    const configuration = writeJsonBlob(out, 'application/vnd.oci.image.config.v1+json', configurationOf(made));
    const manifest = writeJsonBlob(out, 'application/vnd.oci.image.manifest.v1+json', {
      ...{ schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json', config: configuration },
      layers: made.map(({ blob }) => blob),
    });
    const annotations = { 'org.opencontainers.image.ref.name': programVersion() };
    const index = {
      ...{ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json' },
      manifests: [{ ...manifest, annotations, platform: { architecture: architecture(), os: 'linux' } }],
    };
    writeFileSync(join(out, 'index.json'), JSON.stringify(index));
    writeFileSync(join(out, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    console.log(`wrote ${relative('', out) || '.'}, the image ${manifest.digest}`);
  } finally {
    rmSync(work, { recursive: true });
  }
}

interface WrittenLayer {
  readonly blob: Descriptor;
  /** Digest of the uncompressed layer, by which container engines identify its content. */
  readonly diffId: string;
  readonly createdBy: string;
}

function writeLayer(out: string, layer: Layer): WrittenLayer {
  const tar = createTar(layer);
  const blob = writeBytes(out, 'application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(tar));
  return { blob, diffId: digestOf(tar), createdBy: layer.createdBy };
}

/** Returns the configuration of the image, with the same settings as the Dockerfile. */
function configurationOf(layers: readonly WrittenLayer[]) {
  const created = new Date(0).toISOString();
  const seconds = (count: number) => count * 1_000_000_000;
  return {
    ...{ created, architecture: architecture(), os: 'linux' },
    config: {
      User: '1000:1000',
      Env: [
        'PATH=/usr/local/bin:/usr/bin:/bin',
        'NODE_ENV=production',
        'HEDDLE_LISTEN=0.0.0.0:8080',
        'HEDDLE_DATA_DIR=/var/lib/heddle',
      ],
      Entrypoint: ['/usr/local/bin/heddle'],
      Cmd: ['serve'],
      WorkingDir: '/',
      ExposedPorts: { '8080/tcp': {} },
      Volumes: { '/var/lib/heddle': {} },
      Labels: {
        'org.opencontainers.image.title': 'Heddle',
        'org.opencontainers.image.description':
          'Manages the configuration of a private mesh network from YAML documents.',
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.version': programVersion(),
      },
      Healthcheck: {
        ...{ Test: ['CMD', '/usr/local/bin/heddle', 'health'], Interval: seconds(10), Timeout: seconds(6) },
        ...{ StartPeriod: seconds(60), Retries: 3 },
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ createdBy }) => ({ created, created_by: createdBy })),
  };
}

function architecture(): string {
  return ociArchitectures[process.arch] ?? process.arch;
}

function writeJsonBlob(out: string, mediaType: string, content: object): Descriptor {
  return writeBytes(out, mediaType, Buffer.from(JSON.stringify(content)));
}

function writeBytes(out: string, mediaType: string, bytes: Buffer): Descriptor {
  const digest = digestOf(bytes);
  writeFileSync(join(out, 'blobs/sha256', digest.slice('sha256:'.length)), bytes);
  return { mediaType, digest, size: bytes.length };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
