import type { Resource } from '../../../kubernetes/resource.ts';
import type { Cluster } from './cluster.ts';

/** Records what is read by name, and checks whether it has changed since. */
export interface NamedReads {
  /** Starts a recording. What is read through it is checked repeatedly once it is passed to `follow`. */
  begin(): ReadRecording;
  /** Checks what was read in this recording, and nothing that was read before. */
  follow(reading: ReadRecording): void;
  stop(): void;
}

/** Access to the Secrets and Services of a cluster that records each one that is read. */
export interface ReadRecording extends Pick<Cluster, 'secrets' | 'services'> {
  readonly reads: Map<string, RecordedRead>;
}

interface RecordedRead {
  read(): Promise<Resource | undefined>;
  readonly version: string;
}

interface NamedReadsOptions {
  readonly cluster: Pick<Cluster, 'secrets' | 'services'>;
  /** Called when something that was read has changed, was deleted, or was created. */
  readonly onChange: () => void;
  readonly pauses?: typeof defaultPauses;
}

/**
 * Pause between two checks, in milliseconds: at least `pauseMs`, at least `eachMs` for each one that is read, and up to
 * a quarter more.
 */
const defaultPauses = { pauseMs: 15_000, eachMs: 100 };

/**
 * Creates a recorder. A watch would notice changes at once, but needs the right to watch Secrets: the server only has
 * the right to get the Secrets that are named. Only versions are kept, no values.
 */
export function createNamedReads({ cluster, onChange, pauses = defaultPauses }: NamedReadsOptions): NamedReads {
  let followed: ReadonlyMap<string, RecordedRead> = new Map();
  let timer: NodeJS.Timeout | undefined;
  const schedule = (noted: ReadonlyMap<string, RecordedRead>): void => {
    clearTimeout(timer);
    followed = noted;
    if (noted.size === 0) return;
    const pause = Math.max(pauses.pauseMs, pauses.eachMs * noted.size);
    timer = setTimeout(() => void look(noted), pause * (1 + Math.random() / 4));
  };
  const look = async (noted: ReadonlyMap<string, RecordedRead>): Promise<void> => {
    const next = new Map<string, RecordedRead>();
    for (const [name, { read, version }] of noted) {
      const now = await read().then(versionOf, () => version);
      // Another recording was followed during this check, and is checked instead.
      if (followed !== noted) return;
      next.set(name, { read, version: now });
    }
    schedule(next);
    if ([...next].some(([name, { version }]) => version !== noted.get(name)?.version)) onChange();
  };
  return {
    begin() {
      const noted = new Map<string, RecordedRead>();
      const note = (kind: 'secrets' | 'services') => async (namespace: string, name: string) => {
        const read = () => cluster[kind].read(namespace, name);
        const found = await read();
        noted.set(`${kind}/${namespace}/${name}`, { read, version: versionOf(found) });
        return found;
      };
      return {
        reads: noted,
        secrets: { ...cluster.secrets, read: note('secrets') },
        services: { ...cluster.services, read: note('services') },
      };
    },
    follow: ({ reads }) => schedule(reads),
    stop: () => schedule(new Map()),
  };
}

function versionOf(resource: Resource | undefined): string {
  return resource === undefined ? '' : `${resource.metadata.uid} ${resource.metadata.resourceVersion}`;
}
