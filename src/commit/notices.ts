import { runInBackground } from '../telemetry/context.ts';

/**
 * A hint for every server: an account has a new revision or was deleted, or its sources, deliveries, peer verdicts or
 * custom domains need attention.
 */
export type Notice =
  | { readonly what: 'revision'; readonly account: string; readonly revision: number }
  | { readonly what: 'sources' | 'deliveries' | 'verdicts' | 'domains' | 'gone'; readonly account: string }
  /** The contender's turn to write to an account has come. The account has this revision. */
  | { readonly what: 'turn'; readonly account: string; readonly contender: string; readonly revision: number }
  /** The way in which secrets are sealed has changed. */
  | { readonly what: 'sealing' };

/** Server that published a notice. */
export type NoticeOrigin = 'this server' | 'another server';

type NoticeListener = (notice: Notice, origin: NoticeOrigin) => void;

/**
 * Notifies servers of each other's changes. Notices may be lost: they only affect how soon something happens, never
 * correctness.
 */
export interface NoticeBoard {
  /** Notifies the listeners on this server immediately, and the listeners on other servers soon. */
  publish(notice: Notice): void;
  /** Calls the listener with every notice of any server. Returns a function that removes it. */
  on(listener: NoticeListener): () => void;
  /** Calls the listener when notices may have been missed. Returns a function that removes it. */
  onMissed(listener: () => void): () => void;
}

/** A notice board that is connected to other servers. */
export interface ConnectedBoard extends NoticeBoard {
  /** Receives a notice of another server. Ignores a message that it cannot parse: a newer program sent it. */
  receive(message: string): void;
  reportMissed(): void;
}

/** Creates a notice board. `send` sends a message to other servers; only the newest message under a key matters. */
export function createNoticeBoard(send: (key: string, message: string) => void = () => undefined): ConnectedBoard {
  const listeners = new Set<NoticeListener>();
  const missing = new Set<() => void>();
  const spread = (notice: Notice, origin: NoticeOrigin): void => {
    // Listeners wake loops, which continue after the request that caused the notice has ended.
    runInBackground(() => {
      for (const listener of listeners) listener(notice, origin);
    });
  };
  return {
    publish(notice) {
      spread(notice, 'this server');
      send(notice.what === 'sealing' ? notice.what : `${notice.what} ${notice.account}`, formatNotice(notice));
    },
    on: (listener) => addListener(listeners, listener),
    onMissed: (listener) => addListener(missing, listener),
    receive(message) {
      const notice = parseNotice(message);
      if (notice !== undefined) spread(notice, 'another server');
    },
    reportMissed() {
      for (const listener of missing) listener();
    },
  };
}

function addListener<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const messageCodes = { sources: 's', deliveries: 'd', verdicts: 'v', domains: 'm', gone: 'g' } as const;

/** Returns the beginning of a turn message. The database appends the contender and the revision, and sends it. */
export function turnMessage(account: string): string {
  return `t ${account}`;
}

function formatNotice(notice: Notice): string {
  if (notice.what === 'turn') return `${turnMessage(notice.account)} ${notice.contender} ${notice.revision}`;
  if (notice.what === 'revision') return `r ${notice.account} ${notice.revision}`;
  if (notice.what === 'sealing') return 'k';
  return `${messageCodes[notice.what]} ${notice.account}`;
}

function parseNotice(message: string): Notice | undefined {
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
