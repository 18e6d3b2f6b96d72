import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { temporaryDirectory } from '../setup/database.ts';
import type { ServedHeddle } from '../setup/heddle.ts';
import { type NameServer, openNameServer } from '../setup/name-server.ts';
import { ask, openReplicas, type Replicas } from './replicas.ts';

const [domains, services] = ['/api/reverse-proxies/domains', '/api/reverse-proxies/services'];
const cluster = 'proxy.example.com';

const document = `apiVersion: heddle.dev/v1
kind: ProxyDomain
metadata: { name: shop }
spec: { domain: shop.example.org, target_cluster: ${cluster} }
`;

test('custom domains of the API and of a file are validated by TXT and CNAME, also after a server is killed', async () => {
  const { names, replicas } = await openScene();
  const first = await replicas.start();
  await register(first);
  const made = (await ask(first, 'POST', domains, { domain: 'apps.example.org', target_cluster: cluster })).body;
  await expect.poll(() => read(first, 'shop.example.org')).toMatchObject({ type: 'custom', validated: false });
  await expect.poll(async () => (await read(first, 'apps.example.org'))['message']).toContain('(there is none)');
  await expect.poll(() => troubled(first)).toEqual(['apps.example.org', 'shop.example.org']);
  const service = { name: 'Apps', domain: 'web.apps.example.org', enabled: true };
  const used = (await ask(first, 'POST', services, service)).body;
  expect(used).not.toHaveProperty('proxy_cluster');

  // The server that checks the domain is killed during a lookup that the name server does not answer.
  names.records.set(String(made.txt_name), { silent: true });
  const asked = names.asked.length;
  await lookNow(replicas, first, made.id);
  await expect.poll(() => names.asked.length).toBeGreaterThan(asked);
  expect(await holders(replicas, made.id)).toEqual([first.pid]);
  const second = await replicas.start();
  await first.stop('SIGKILL');
  names.records.set(String(made.txt_name), { txt: [[String(made.txt_value)]] });
  names.records.set('shop.example.org', { cname: [cluster] });
  await lookNow(replicas, second, made.id);
  await lookNow(replicas, second, String((await read(second, 'shop.example.org'))['id']));
  for (const domain of ['apps.example.org', 'shop.example.org'])
    await expect.poll(() => read(second, domain)).toMatchObject({ status: 'validated' });
  expect(await troubled(second)).toEqual([]);
  expect((await events(second, 'domain.validate')).map(({ domain }) => domain).sort()).toEqual([
    'apps.example.org',
    'shop.example.org',
  ]);
  expect((await ask(second, 'GET', `${services}/${used.id}`)).body.proxy_cluster).toBe(cluster);

  // A third server starts with the stored result of the check. A domain that is used cannot be deleted.
  const third = await replicas.start();
  await second.stop('SIGKILL');
  expect(await read(third, 'apps.example.org')).toMatchObject({ status: 'validated' });
  const refused = await ask(third, 'DELETE', `${domains}/${made.id}`);
  expect([refused.status, refused.body.message]).toEqual([
    409,
    expect.stringContaining('has been linked to proxy service: Apps; remove it there first'),
  ]);
  expect((await ask(third, 'DELETE', `${services}/${used.id}`)).status).toBe(200);
  expect((await ask(third, 'DELETE', `${domains}/${made.id}`)).status).toBe(204);
  expect(await events(third, 'domain.delete')).toMatchObject([{ domain: 'apps.example.org' }]);
});

/** Starts a name server, and prepares replicas that use it and run a source with one domain. */
async function openScene(): Promise<{ readonly names: NameServer; readonly replicas: Replicas }> {
  const names = await openNameServer();
  onTestFinished(() => names[Symbol.asyncDispose]());
  const folder = join(await temporaryDirectory(), 'team');
  await mkdir(folder);
  await writeFile(join(folder, 'domain.yaml'), document);
  const replicas = await openReplicas(['--source', folder], { HEDDLE_DNS_SERVERS: names.address });
  onTestFinished(() => replicas[Symbol.asyncDispose]());
  return { names, replicas };
}

/** Registers a proxy, which creates the cluster. */
async function register(server: ServedHeddle): Promise<void> {
  const token = (await ask(server, 'POST', '/api/reverse-proxies/proxy-tokens', { name: 'Bern' })).body.plain_token;
  const answer = await fetch(`${server.url}/proxy/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ proxy_id: 'bern', address: cluster }),
  });
  expect(answer.status).toBe(200);
}

async function read(server: ServedHeddle, domain: string): Promise<JsonObject> {
  const list: readonly JsonObject[] = (await ask(server, 'GET', domains)).body;
  return list.find((one) => one['domain'] === domain) ?? {};
}

/** Returns the domains that the status of the account lists. */
async function troubled(server: ServedHeddle): Promise<readonly unknown[]> {
  const { domains: found = [] } = (await ask(server, 'GET', '/api/config/status')).body;
  return found.map(({ domain }: JsonObject) => domain).sort();
}

/** Returns the `meta` member of each audit event with a code. */
async function events(server: ServedHeddle, code: string): Promise<readonly JsonObject[]> {
  const list = (await ask(server, 'GET', '/api/events/audit')).body;
  return list.flatMap(({ activity_code, meta }: JsonObject) => (activity_code === code ? [meta] : []));
}

/**
 * Requests a lookup of a domain at once. Moves the last check back in time, because users may request a lookup only
 * every few seconds.
 */
async function lookNow(replicas: Replicas, server: ServedHeddle, id: string): Promise<void> {
  await inDatabase(replicas, "update proxy_domains set checked_at = checked_at - interval '1 minute'");
  expect((await ask(server, 'GET', `${domains}/${id}/validate`)).status).toBe(202);
}

/** Returns the ids of the processes that have the lease of a domain. */
async function holders(replicas: Replicas, id: string): Promise<readonly number[]> {
  const rows = await inDatabase<{ readonly owner: string }>(
    replicas,
    `select owner from leases where name = 'proxy-domain/${id}'`,
  );
  return rows.map(({ owner }) => Number(owner.split(' ').find((word) => /^\d+$/.test(word))));
}

async function inDatabase<Row>({ url }: Replicas, sql: string): Promise<readonly Row[]> {
  const database = await openDatabase({ url });
  try {
    return await database.lookUp(statement<Row>(sql, []));
  } finally {
    await database.close();
  }
}
