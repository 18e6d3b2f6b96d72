/** A collection that something keeps which lives longer than a request. */
export interface Cache {
  readonly path: string;
  readonly name: string;
  /** What it is asked and written by, as the code says it. */
  readonly keys: readonly string[];
}

/**
 * What is known by something other than an account alone, and why nothing of one account can come out of it for
 * another. Everything that is not here has an account as its key.
 */
export const otherwise: Readonly<Record<string, string>> = {
  'src/api/config/restore-slots.ts running': 'requests that are under way',
  'src/api/config/restore-slots.ts taken': 'accounts, with the request of each',
  'src/api/config/webhook-routes.ts waiting': 'account and source',
  'src/api/answers/account-streams.ts streams': 'streams that are open, ended at the end',
  'src/api/broken-requests.ts underWay': 'sockets, each with the request that it carries',
  'src/api/drain.ts unused': 'sockets, of nobody yet',
  'src/api/answers/long-lists.ts busy': 'account and kind',
  'src/api/answers/long-lists.ts known': 'account and kind',
  'src/api/metrics/meters.ts counters': 'names of metrics; counts of the whole server',
  'src/api/metrics/meters.ts gauges': 'names of metrics; counts of the whole server',
  'src/api/metrics/meters.ts histograms': 'names of metrics; counts of the whole server',
  'src/api/metrics/metrics.ts inPlace': 'names of sources; for the operator of the server',
  'src/api/other-methods.ts paths': 'routes of the program',
  'src/api/routes/proxy.ts present': 'the id of a proxy token, which no two accounts share, and a proxy',
  'src/api/routes/schemas.ts made': 'kinds and forms of schemas, which are those of the program',
  'src/app/engine.ts preparers': 'who prepares; every state is of one account',
  'src/app/engine.ts listeners': 'who listens; every revision names its account',
  'src/features/sources/directory/directory.ts leftOut': 'paths of one source, for the time of one reading',
  'src/features/sources/directory/file-memory.ts known': 'paths of one source',
  'src/features/sources/files/selection.ts leftOut': 'paths of one source, for the time of one reading',
  'src/features/sources/kubernetes/cluster.ts definitionIds': 'ids of the definitions of one cluster',
  'src/features/sources/kubernetes/cluster.ts listeners': 'who listens to one cluster',
  'src/features/sources/kubernetes/cluster.ts names': 'paths of one cluster',
  'src/features/sources/kubernetes/resources/plan-writer.ts contents': 'namespaces of one cluster',
  'src/features/sources/kubernetes/resources/plan-writer.ts renewed': 'namespaces of one cluster',
  'src/features/sources/kubernetes/named-reads.ts followed': 'what one namespace names',
  'src/features/sources/kubernetes/namespace-origin.ts read': 'resources of one namespace',
  'src/features/sources/kubernetes/resources/alarms.ts timers': 'namespaces of one cluster',
  'src/features/sources/kubernetes/resources/source-writer.ts requests': 'namespaces of one cluster',
  'src/features/sources/kubernetes/status/status-writer.ts latest': 'resources of one cluster',
  'src/features/sources/kubernetes/status/status-writer.ts putOff': 'resources of one cluster',
  'src/features/sources/kubernetes/status/status-writer.ts running': 'resources of one cluster',
  'src/features/sources/kubernetes/status/status-writer.ts waiting': 'resources of one cluster',
  'src/commit/access-images.ts coming': 'the state itself, which is of one account',
  'src/features/peers/observed-peers.ts known': 'the peers themselves, which are of one account',
  'src/commit/commit.ts shared': 'commits under way, waited for at the end',
  'src/commit/notices.ts listeners': 'who listens; every notice names its account',
  'src/commit/notices.ts missing': 'who listens; nothing is told',
  'src/commit/observe.ts listeners': 'who listens',
  'src/commit/presence.ts listeners': 'who listens; each is told of which account',
  'src/commit/presence.ts written': 'who listens; each is told of which account',
  'src/features/integrations/endpoint-security/match.ts candidates': 'of one sync, which is of one account',
  'src/features/integrations/endpoint-security/read.ts seen': 'pages of one list, for the time of one reading',
  'src/features/integrations/job-runner.ts running': 'account and lease',
  'src/features/integrations/provisioning/drafts.ts made': 'of one change',
  'src/features/integrations/provisioning/drafts.ts touched': 'of one change',
  'src/features/integrations/provisioning/plan.ts members': 'of one change',
  'src/features/integrations/provisioning/plan.ts out': 'of one change',
  'src/features/logs/ingest.ts queues': 'feed and account',
  'src/features/logs/ingest.ts running': 'statements under way, waited for at the end',
  'src/features/logs/ingest.ts known': 'weeks for which there are partitions, of all accounts together',
  'src/features/logs/listings.ts kept': 'feed and account',
  'src/features/logs/traffic-names.ts ends': 'lives as long as one report is read',
  'src/features/logs/values.ts keys': 'lives as long as one report is read',
  'src/features/logs/values.ts values': 'lives as long as one report is read',
  'src/features/auth/bearer.ts remembered': 'the hash of a signed token, which is of one person',
  'src/features/auth/sign-in-limits.ts known': 'person and address; answers how fast to guess, and nothing else',
  'src/features/auth/sign-in.ts running': 'issuer and subject, which is one person',
  'src/features/auth/token-cache.ts owners': 'the hash of a token, which no two accounts share',
  'src/features/auth/token-cache.ts pauses': 'the hash of a token, which no two accounts share',
  'src/features/auth/authenticate.ts written': 'the id of a token, which no two accounts share',
  'src/features/peers/connection-tracker.ts writing': 'writes under way, waited for at the end',
  'src/features/peers/enrolment/challenges.ts opened': 'challenges of the installation, which are of no account',
  'src/features/peers/streams/hub.ts accounts': 'accounts, also by the name that a loop gives them',
  'src/features/peers/streams/hub.ts idle': 'accounts, also by the name that a loop gives them',
  'src/features/peers/streams/account-streams.ts #streams': 'peers; the object is of one account',
  'src/features/peers/streams/preparation.ts #updates': 'streams; the object is of one account',
  'src/features/peers/streams/update.ts maps': 'the map itself, which is of one account',
  'src/features/peers/streams/update.ts changes': 'the very text that is sent; equal texts are equal for everybody',
  'src/db/leases/lease-keeper.ts held': 'the leases that this server has, each until it is let go',
  'src/db/notices.ts #pending': 'kind of notice and account',
  'src/db/postgres.ts #brokenClients': 'connections that broke',
  'src/db/sealing/signer.ts known': 'keys of the installation',
  'src/db/commit/rows.ts old': 'lives as long as the rows of one commit are listed',
  'src/db/commit/snapshots.ts byObject': 'lives as long as one loading of an account',
  'src/db/sealing/vault.ts known': 'keys of the installation',
  'src/objects/object-list.ts names': 'kinds that one caller may read, for the time of one request',
  'src/objects/readable-problems.ts kinds': 'kinds that one reader may read, for the time of one request',
};

const checkedFolders = /^src\/(api|app|commit|db|features|objects)\//;

/** Functions that make something which stays. */
const makers =
  /^(?:export )?(?:async )?function (?:create|open|run|start|watch|collect|drain|limit|throttle|gather|add)\w*[(<]|^(?:export )?class |^(?:export )?const \w+ = implement\(/;

const kept = /^ {2}(?:const|let|(?:private |readonly )+)? ?(#?\w+)(?:: [^=\n]+)? = new (?:Map|Set|WeakMap|WeakSet)\b/;

/** The collections of a file that outlive a request, with the keys by which they are used. */
export function cachesOf(path: string, text: string): readonly Cache[] {
  if (!checkedFolders.test(path)) return [];
  const found: Cache[] = [];
  let isMaker = false;
  for (const line of text.split('\n')) {
    if (/^\S/.test(line) && !line.startsWith('}') && !line.startsWith(')')) isMaker = makers.test(line);
    const name = isMaker ? kept.exec(line)?.[1] : undefined;
    if (name !== undefined) found.push({ path, name, keys: keysOf(text, name) });
  }
  return found;
}

/** Whether every key is an account. */
export function isByAccount({ keys }: Cache): boolean {
  return keys.length > 0 && keys.every((key) => /^(?:\w+\.)*account$/.test(key));
}

function keysOf(text: string, name: string): readonly string[] {
  const plain = name.replace('#', '');
  const uses = text.matchAll(new RegExp(`\\b${plain}\\.(?:get|set|add|has|delete)\\(([^,()]*)`, 'g'));
  const keys = new Set([...uses].map(([, key = '']) => key.trim()));
  // Forgetting the oldest one asks the collection itself.
  return [...keys].filter((key) => !key.startsWith(`${plain}.`));
}
