import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { typeFaults } from '../charts/kubernetes-types.ts';
import { at, only, readManifests, render } from '../charts/render.ts';
import { containerOf, podOf } from '../charts/shape.ts';
import { startPostgres } from '../setup/server.ts';
import { onServer } from '../setup/sql.ts';

const read = (file: string) => readFileSync(`examples/kubernetes/cloudnative-pg/${file}`, 'utf8');
const [cluster] = readManifests(read('cluster.yaml'));
const values = parse(read('values.yaml'));
const initdb = at(cluster, 'spec.bootstrap.initdb');
const name = String(at(cluster, 'metadata.name'));

test('the chart connects to the Postgres of CloudNativePG with its password and certificate authority', async () => {
  const manifests = await render({ over: values });
  expect(typeFaults(manifests)).toBe('');
  const url = new URL(Buffer.from(String(at(only(manifests, 'Secret'), 'data.database-url')), 'base64').toString());
  expect(url).toMatchObject({
    username: at(initdb, 'owner'),
    password: '',
    // The Service of the primary, and below the Secrets, as the operator names them.
    hostname: `${name}-rw`,
    pathname: `/${at(initdb, 'database')}`,
  });
  expect(at(containerOf(manifests), 'env')).toContainEqual({
    name: 'PGPASSWORD',
    valueFrom: { secretKeyRef: { name: `${name}-app`, key: 'password' } },
  });
  const authority = { secretName: `${name}-ca`, items: [{ key: 'ca.crt', path: 'ca.crt' }] };
  expect(at(podOf(manifests), 'volumes')).toContainEqual({ name: 'postgres-ca', secret: authority });
  expect(at(containerOf(manifests), 'volumeMounts')).toContainEqual({
    name: 'postgres-ca',
    mountPath: String(url.searchParams.get('sslrootcert')).replace('/ca.crt', ''),
    readOnly: true,
  });
  expect(url.searchParams.get('sslmode')).toBe('verify-full');
});

test('the network policy allows the servers to connect to the pods of the CloudNativePG Postgres', async () => {
  const egress = at(only(await render({ over: values }), 'NetworkPolicy'), 'spec.egress');
  expect(egress).toContainEqual({
    ports: [{ port: 5432, protocol: 'TCP' }],
    to: [{ podSelector: { matchLabels: { 'cnpg.io/cluster': name } } }],
  });
});

test('the database owner that CloudNativePG creates can migrate without the right to create roles', async () => {
  await using server = await startPostgres();
  const owner = String(at(initdb, 'owner'));
  const database = String(at(initdb, 'database'));
  await onServer(server.url(), `create role ${owner} login nocreaterole`);
  await onServer(server.url(), `create database ${database} owner ${owner}`);
  for (const statement of at(initdb, 'postInitApplicationSQL') as readonly string[])
    await onServer(server.url(database), statement);
  const opened = await openDatabase({ url: server.url(database).replace('//postgres@', `//${owner}@`) });
  expect((await migrate(opened)).length).toBeGreaterThan(10);
  await opened.close();
});
