import type { Resource } from '../../../kubernetes/resource.ts';
import type { Cluster } from './cluster.ts';

/** Notes what is read by name, and looks whether it is another by now. */
export interface NamedReads {
  /** Begins to note: what is read by these is looked after once they are followed. */
  begin(): Reading;
  /** Looks after what was read, and after nothing that was read before. */
  follow(reading: Reading): void;
  stop(): void;
}

/** Secrets and Services of a cluster, with a note of each that was read. */
export interface Reading extends Pick<Cluster, 'secrets' | 'services'> {
  readonly noted: Map<string, Noted>;
}

interface Noted {
  read(): Promise<Resource | undefined>;
  readonly version: string;
}

interface NamedReadsOptions {
  readonly cluster: Pick<Cluster, 'secrets' | 'services'>;
  /** One that was read is another now, is gone, or came. */
  readonly onChange: () => void;
  readonly pauses?: typeof plainPauses;
}

/** Each is read again after so long, in milliseconds, and up to a quarter more; many are read no faster than one after the other. */
const plainPauses = { pauseMs: 15_000, eachMs: 100 };

/**
 * Creates one. A watch would notice at once, and would need the right to watch Secrets: the server has the right to get those
 * that are named, and nothing else. Versions are kept, and no values.
 */
export function createNamedReads({ cluster, onChange, pauses = plainPauses }: NamedReadsOptions): NamedReads {
  let followed: ReadonlyMap<string, Noted> = new Map();
  let timer: NodeJS.Timeout | undefined;
  const schedule = (noted: ReadonlyMap<string, Noted>): void => {
    clearTimeout(timer);
    followed = noted;
    if (noted.size === 0) return;
    const pause = Math.max(pauses.pauseMs, pauses.eachMs * noted.size);
    timer = setTimeout(() => void look(noted), pause * (1 + Math.random() / 4));
  };
  const look = async (noted: ReadonlyMap<string, Noted>): Promise<void> => {
    const next = new Map<string, Noted>();
    for (const [name, { read, version }] of noted) {
      const now = await read().then(versionOf, () => version);
      // What was followed meanwhile is looked after instead.
      if (followed !== noted) return;
      next.set(name, { read, version: now });
    }
    schedule(next);
    if ([...next].some(([name, { version }]) => version !== noted.get(name)?.version)) onChange();
  };
  return {
    begin() {
      const noted = new Map<string, Noted>();
      const note = (kind: 'secrets' | 'services') => async (namespace: string, name: string) => {
        const read = () => cluster[kind].read(namespace, name);
        const found = await read();
        noted.set(`${kind}/${namespace}/${name}`, { read, version: versionOf(found) });
        return found;
      };
      return {
        noted,
        secrets: { ...cluster.secrets, read: note('secrets') },
        services: { ...cluster.services, read: note('services') },
      };
    },
    follow: ({ noted }) => schedule(noted),
    stop: () => schedule(new Map()),
  };
}

function versionOf(resource: Resource | undefined): string {
  return resource === undefined ? '' : `${resource.metadata.uid} ${resource.metadata.resourceVersion}`;
}
