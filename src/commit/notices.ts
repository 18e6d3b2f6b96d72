import { runInBackground } from '../telemetry/context.ts';

/**
 * A hint for every server: an account moved on, something about its sources, its deliveries, the verdicts on its peers or
 * its custom domains wants to be looked at, or it is gone.
 */
export type Notice =
  | { readonly what: 'revision'; readonly account: string; readonly revision: number }
  | { readonly what: 'sources' | 'deliveries' | 'verdicts' | 'domains' | 'gone'; readonly account: string }
  /** It is somebody's turn to write to an account that has this revision. */
  | { readonly what: 'turn'; readonly account: string; readonly contender: string; readonly revision: number }
  /** Secrets are sealed in another way from now on. */
  | { readonly what: 'sealing' };

/**
 * Notifies servers of each other's changes. Notices may be lost; correctness never depends on them, only how soon
 * something happens.
 */
export interface NoticeBoard {
  /** Notifies the listeners on this server now, and those on other servers soon. */
  publish(notice: Notice): void;
  /** Calls the listener with every notice of any server. Returns a function that removes it. */
  on(listener: (notice: Notice) => void): () => void;
  /** Calls the listener when notices may have been missed. Returns a function that removes it. */
  onMissed(listener: () => void): () => void;
}

/** A notice board with a way to other servers. */
export interface ConnectedBoard extends NoticeBoard {
  /** Receives a notice of another server; one that cannot be read is of a newer program. */
  receive(message: string): void;
  missed(): void;
}

/** Creates a notice board; `send` takes messages to other servers, of which only the newest under a key matters. */
export function createNoticeBoard(send: (key: string, message: string) => void = () => undefined): ConnectedBoard {
  const listeners = new Set<(notice: Notice) => void>();
  const missing = new Set<() => void>();
  const spread = (notice: Notice): void => {
    // Listeners wake loops, which go on when the request that caused it is over.
    runInBackground(() => {
      for (const listener of listeners) listener(notice);
    });
  };
  return {
    publish(notice) {
      spread(notice);
      send(notice.what === 'sealing' ? notice.what : `${notice.what} ${notice.account}`, write(notice));
    },
    on: (listener) => joined(listeners, listener),
    onMissed: (listener) => joined(missing, listener),
    receive(message) {
      const notice = read(message);
      if (notice !== undefined) spread(notice);
    },
    missed() {
      for (const listener of missing) listener();
    },
  };
}

function joined<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const letters = { sources: 's', deliveries: 'd', verdicts: 'v', domains: 'm', gone: 'g' } as const;

/** The beginning of the message of a turn. The database sends it, with the contender and the revision. */
export function turnMessage(account: string): string {
  return `t ${account}`;
}

function write(notice: Notice): string {
  if (notice.what === 'turn') return `${turnMessage(notice.account)} ${notice.contender} ${notice.revision}`;
  if (notice.what === 'revision') return `r ${notice.account} ${notice.revision}`;
  if (notice.what === 'sealing') return 'k';
  return `${letters[notice.what]} ${notice.account}`;
}

function read(message: string): Notice | undefined {
  const [what, account = '', ...more] = message.split(' ');
  const revision = Number(more.at(-1));
  if (what === 'r' && Number.isInteger(revision)) return { what: 'revision', account, revision };
  if (what === 't' && Number.isInteger(revision)) return { what: 'turn', account, contender: more[0] ?? '', revision };
  if (what === 'k') return { what: 'sealing' };
  if (what === 'g') return { what: 'gone', account };
  if (what === 'd') return { what: 'deliveries', account };
  if (what === 'v') return { what: 'verdicts', account };
  if (what === 'm') return { what: 'domains', account };
  return what === 's' ? { what: 'sources', account } : undefined;
}
