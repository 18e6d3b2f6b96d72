import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Engine } from '../../src/commit/engine.ts';
import { findEntry } from '../../src/db/accounts/directory.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { createAccountFor } from '../../src/features/accounts/join.ts';
import { hashToken } from '../../src/features/auth/authenticate.ts';
import { runDomainChecks } from '../../src/features/proxy/domains/dispatcher.ts';
import { followServices } from '../../src/features/proxy/services.ts';
import { asObjects, type JsonObject } from '../../src/lib/json.ts';
import { makeToken } from '../../src/lib/token.ts';
import { createDnsLookups } from '../../src/outbound/dns.ts';
import { openNameServer } from '../setup/name-server.ts';
import { present } from '../setup/present.ts';
import { addCluster, services } from './reverse-proxy-scene.ts';
import { type TestApi, testApi } from './setup.ts';

export const domains = '/api/reverse-proxies/domains';

export type DomainScene = Awaited<ReturnType<typeof openDomainScene>>;

/** Returns the body of a service of a domain. */
export const service = (domain: string, more: JsonObject = {}) => ({ name: domain, domain, enabled: true, ...more });

/** Returns the answer of a name server with CNAME records. */
export const cname = (...targets: readonly string[]) => ({ cname: targets });

/** Returns the domains of the services that a proxy of the cluster receives. */
export async function offered({ api, cluster }: DomainScene): Promise<readonly unknown[]> {
  const reader = followServices(api.engine, { account: api.account, cluster, id: 'bern', token: 't' });
  const { services: list = [] } = present(await reader.next()).data;
  return asObjects(list).map(({ domain }) => domain);
}

/** Intervals of the checks, in milliseconds. */
interface Pace {
  readonly everyMs?: number;
  readonly firstRetryMs?: number;
}

/** Starts checks of custom domains at short intervals. They stop at the end of the test, or when `stop` is called. */
export function runChecks(engine: Engine, { everyMs = 60_000, firstRetryMs = 60_000 }: Pace = {}) {
  const reports: string[] = [];
  const end = runDomainChecks({
    ...{ engine, everyMs, firstRetryMs, leaseSeconds: 30, pollMs: 20, gatherMs: 5 },
    random: () => 0.5,
    report: (_, message) => reports.push(message),
  });
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    ended ??= end();
    return ended;
  };
  onTestFinished(stop);
  return { reports, stop };
}

/** Starts a server with a cluster. Custom domains are looked up at a name server that the test controls. */
export async function openDomainScene() {
  const started = await startServers();
  onTestFinished(() => started.stop());
  return sceneOn(started);
}

/**
 * Starts a server as `openDomainScene` does, for all tests of a suite. The returned function opens the scene of a test.
 * At the end of the test, its services, custom domains and DNS records are deleted.
 */
export function sharedDomainScene(): () => Promise<DomainScene> {
  let started: Awaited<ReturnType<typeof startServers>> | undefined;
  beforeAll(async () => {
    started = await startServers();
  });
  afterAll(() => started?.stop());
  return async () => {
    const { api, names, ...rest } = present(started);
    onTestFinished(async () => {
      names.records.clear();
      for (const path of [services, domains])
        for (const { id } of (await api.call('GET', path)).body)
          if (id !== '') await api.call('DELETE', `${path}/${id}`);
    });
    return sceneOn({ api, names, ...rest }, (await api.call('GET', '/api/events/audit')).body);
  };
}

async function startServers() {
  const names = await openNameServer();
  const dns = createDnsLookups({ servers: [names.address], deadlineMs: 500 });
  const api = await testApi('postgres', dns);
  const cluster = await addCluster(api, 'proxy.example.com', { supports_custom_ports: true });
  const stop = async (): Promise<void> => {
    await api[Symbol.asyncDispose]();
    await names[Symbol.asyncDispose]();
  };
  return { api, dns, cluster, names, stop };
}

/** Returns the helpers of a test. `earlier` are the audit events from before the test. */
function sceneOn(
  { api, dns, cluster, names }: Awaited<ReturnType<typeof startServers>>,
  earlier: readonly JsonObject[] = [],
) {
  return {
    api,
    dns,
    cluster,
    names,
    /** Adds a custom domain for the cluster. */
    async add(domain: string, more: JsonObject = {}, headers = {}): Promise<JsonObject & { readonly id: string }> {
      const body = { domain, target_cluster: 'proxy.example.com', ...more };
      const answer = await api.call('POST', domains, body, headers);
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return answer.body;
    },
    /** Returns the current state of the domain, or an empty object when it does not exist. */
    async read(domain: string, headers = {}): Promise<JsonObject> {
      const list: readonly JsonObject[] = (await api.call('GET', domains, undefined, headers)).body;
      return list.find((one) => one['domain'] === domain) ?? {};
    },
    /** Returns the audit events with the code since the start of the test. */
    async events(code: string): Promise<readonly JsonObject[]> {
      const list: readonly JsonObject[] = (await api.call('GET', '/api/events/audit')).body;
      const known = new Set(earlier.map(({ id }) => id));
      return list.filter((event) => event['activity_code'] === code && !known.has(event['id']));
    },
    /** Adds the TXT record to the name server that the domain's answer requires as proof. */
    prove({ txt_name, txt_value }: JsonObject): void {
      names.records.set(String(txt_name), { txt: [['v=spf1 -all'], [String(txt_value)]] });
    },
    /** Creates another account with the same cluster, and returns the headers to call as its owner. */
    async neighbour(): Promise<{ readonly account: string; readonly headers: { readonly authorization: string } }> {
      const { engine } = api;
      const person = { issuer: 'https://id.example.com', subject: 'bea', email: 'bea@birch.example' };
      await createAccountFor(engine, { ...person, emailVerified: true, name: 'Bea Birch' }, 'birch.example');
      const account = (await findEntry(engine.database, 'domain', 'birch.example')) ?? '';
      const users = (await engine.snapshots.fresh(account)).ofKind('User');
      const user = users.find(({ spec }) => spec.role === 'owner')?.id ?? '';
      const value = makeToken('nbp_', new Uint8Array(32).fill(82));
      const token = { account, id: engine.newId(), user, createdBy: user, name: 'test', hash: hashToken(value) };
      await insertToken(engine.database, { ...token, createdAt: engine.now(), expiresAt: '2999-01-01T00:00:00Z' });
      await addCluster({ ...api, account } as TestApi, 'proxy.example.com');
      return { account, headers: { authorization: `Token ${value}` } };
    },
  };
}
