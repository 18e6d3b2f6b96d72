import { onTestFinished } from 'vitest';
import type { Engine } from '../../../src/commit/engine.ts';
import { runEndpointSecurity } from '../../../src/features/integrations/endpoint-security/dispatcher.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { parseAllowList } from '../../../src/lib/net/public-address.ts';
import type { EndpointSecurity } from '../../../src/operations/config/endpoint-security.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { type TestApi, type TestApiOptions, testApi } from '../../api/setup.ts';
import { newMachine, setupKey } from '../../peers/machine.ts';
import { credentialsB, credentialsD, tokenA, tokenC } from './products.ts';

/** A server that queries products, at short intervals. */
interface Post {
  readonly reports: string[];
  stop(): Promise<void>;
}

interface PostOptions {
  readonly everyMs?: number;
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
  readonly authorities?: string;
  readonly leaseSeconds?: number;
}

/** Starts a server that queries products. */
export function runPost(
  engine: Engine,
  { everyMs = 300_000, timeoutMs = 2000, deadlineMs, authorities, leaseSeconds = 30 }: PostOptions = {},
): Post {
  const reports: string[] = [];
  const allow = parseAllowList(['127.0.0.1', 'localhost']);
  if ('wrong' in allow) throw new Error(`${allow.wrong} is no address`);
  const outbound = createOutbound({ allow, userAgent: 'Heddle/test', connectMs: 2000, authorities });
  const end = runEndpointSecurity({
    ...{ engine, outbound, leaseSeconds, everyMs, timeoutMs, deadlineMs, retryMs: 1, pollMs: 50, gatherMs: 5 },
    random: () => 0.5,
    report: (_, message) => reports.push(message),
  });
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    ended ??= end().then(() => outbound.close());
    return ended;
  };
  onTestFinished(stop);
  return { reports, stop };
}

/** Opens a server with an API, and requests that tests of endpoint security need. */
export async function openScene(options: TestApiOptions = {}) {
  const api = await testApi('postgres', options);
  onTestFinished(() => api[Symbol.asyncDispose]());
  return sceneOf(api);
}

/**
 * Opens the scene of `openScene` on a server that tests share. When the test ends, the integrations, groups and peers
 * that it created are deleted. Call it before `runPost`: hooks run in reverse order, so the server that queries products
 * stops first.
 */
export async function sharedScene(shared: TestApi) {
  const made: string[] = [];
  onTestFinished(async () => {
    for (const path of made.reverse()) {
      const answer = await shared.call('DELETE', path);
      if (![200, 204].includes(answer.status)) throw new Error(JSON.stringify(answer.body));
    }
  });
  const events = async (): Promise<readonly { readonly id: string }[]> =>
    (await shared.call('GET', '/api/events/audit')).body;
  const earlier = new Set((await events()).map(({ id }) => id));
  const scene = sceneOf(shared, earlier);
  return {
    ...scene,
    api: {
      ...shared,
      async group(...given: Parameters<TestApi['group']>) {
        const id = await shared.group(...given);
        made.push(`/api/groups/${id}`);
        return id;
      },
    },
    async machines(...labels: readonly string[]) {
      const ids = await scene.machines(...labels);
      made.push(...ids.map((id) => `/api/peers/${id}`));
      return ids;
    },
    async integrate(vendor: string, body: JsonObject, method = 'POST') {
      await scene.integrate(vendor, body, method);
      const path = `/api/integrations/edr/${vendor}`;
      if (!made.includes(path)) made.push(path);
    },
  };
}

/** `earlier` are ids of events that do not belong to the test. */
function sceneOf(api: TestApi, earlier: ReadonlySet<string> = new Set()) {
  const status = async (vendor: string): Promise<EndpointSecurity> => {
    const found: readonly EndpointSecurity[] = (await api.call('GET', '/api/config/endpoint-security')).body;
    const one = found.find((item) => item.vendor === vendor);
    if (one === undefined) throw new Error(`there is no ${vendor}`);
    return one;
  };
  let key: string | undefined;
  return {
    api,
    status,
    /** Enrols machines that report the label as their hostname. Returns the ids of their peers. */
    async machines(...labels: readonly string[]): Promise<readonly string[]> {
      key ??= String((await setupKey(api))['key']);
      const ids: string[] = [];
      for (const hostname of labels) {
        const facts = { serial_number: `SN-${hostname}` };
        const answer = await newMachine(api).enrol({ setup_key: key, hostname, facts });
        if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
        ids.push(answer.body.peer.id);
      }
      return ids;
    },
    async integrate(vendor: string, body: JsonObject, method = 'POST'): Promise<void> {
      const answer = await api.call(method, `/api/integrations/edr/${vendor}`, body);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
    /** Returns for each peer the reason why it lacks an approval, or `undefined` when it needs none. */
    async standing(ids: readonly string[]) {
      const shown = await Promise.all(ids.map(async (id) => (await api.call('GET', `/api/peers/${id}`)).body));
      return shown.map((peer) => (peer.approval_required === true ? peer.disapproval_reason : undefined));
    },
    /** Returns for each peer the names of the peers to which it may open a connection. */
    async reach(ids: readonly string[]) {
      const lists = await Promise.all(
        ids.map(async (id) => (await api.call('GET', `/api/peers/${id}/accessible-peers`)).body),
      );
      return lists.map((list) => list.map(({ name }: { readonly name: string }) => name).sort());
    },
    /** Returns the activity codes of endpoint security events, oldest first. */
    async events(): Promise<readonly string[]> {
      const rows: readonly { readonly id: string; readonly activity_code: string }[] = (
        await api.call('GET', '/api/events/audit')
      ).body;
      return rows
        .filter(({ id }) => !earlier.has(id))
        .map(({ activity_code: code }) => code)
        .filter((code) => /^integrated-validator\.(host|sync)/.test(code))
        .reverse();
    },
  };
}

/** Request bodies that configure each vendor. */
export const bodies = {
  'vendor-a': (url: string, groups: readonly string[], match: JsonObject = {}): JsonObject => ({
    ...{ api_url: url, api_token: tokenA, groups, last_synced_interval: 24, match_attributes: match },
  }),
  'vendor-b': (url: string, groups: readonly string[]): JsonObject => ({
    ...{ ...credentialsB, groups, last_synced_interval: 24, login_url: url, api_url: url },
  }),
  'vendor-c': (url: string, groups: readonly string[], match: JsonObject = {}): JsonObject => ({
    ...{ api_url: url, api_token: tokenC, groups, last_synced_interval: 24, match_attributes: match },
  }),
  'vendor-d': (url: string, groups: readonly string[]): JsonObject => ({
    ...{ ...credentialsD, cloud_id: 'us-1', api_url: url, groups, zta_score_threshold: 70 },
  }),
};
