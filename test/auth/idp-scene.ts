import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { ServeOptions } from '../../src/app/serve-options.ts';
import { type RunningServer, startServer } from '../../src/app.ts';
import { type Config, readConfig, settings } from '../../src/config.ts';
import { putCredentials } from '../../src/db/accounts/credentials.ts';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { hashPassword } from '../../src/features/auth/passwords.ts';
import type { PasswordCost } from '../../src/model/password-cost.ts';
import { migratedDatabase, temporaryDirectory } from '../setup/database.ts';
import { cheapPasswordCost } from '../setup/password-cost.ts';
import { present } from '../setup/present.ts';

/** A complete server with its identity provider, started in the way of `heddle serve`. */
export interface Scene {
  readonly server: RunningServer;
  readonly url: string;
  readonly directory: string;
  /** Token of the machine owner. */
  readonly owner: string;
  /** Token of the operator. */
  readonly operator: string;
  /** Messages of the server's log. */
  readonly log: readonly string[];
  /** Creates a user who can sign in with this password. Returns the user's id. */
  person(email: string, password: string, more?: Person): Promise<string>;
  /** Calls the API, with the owner's token unless `authorization` is given. */
  call(method: string, path: string, body?: object, authorization?: string): Promise<Response>;
  sql<Row>(text: string, parameters?: readonly unknown[]): Promise<readonly Row[]>;
}

interface Person {
  readonly role?: string;
  readonly oneTime?: boolean;
  readonly passwordCost?: PasswordCost;
}

/** Starts one server for all tests of a file. */
export function idpScene(options: Partial<ServeOptions> = {}): () => Scene {
  let scene: Scene | undefined;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    scene = await openScene(options, closing);
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });
  return () => {
    if (scene === undefined) throw new Error('the server is started before the first test');
    return scene;
  };
}

async function openScene(options: Partial<ServeOptions>, closing: (() => Promise<unknown>)[]): Promise<Scene> {
  const directory = await temporaryDirectory();
  const databaseUrl = await migratedDatabase();
  const read = readConfig({}, {}, Object.keys(settings) as (keyof Config)[]);
  if (!read.ok) throw new Error(read.faults.join(' '));
  const { databaseUrl: _, bootstrapToken: __, ...plain } = read.config;
  const log: string[] = [];
  const server = await startServer(
    {
      ...plain,
      ...{ listen: { host: '127.0.0.1', port: 0 }, dataDir: directory, databaseUrl, poolSize: 5 },
      ...{ secretKey: Buffer.alloc(32, 7).toString('base64'), values: {}, statedSources: [], gitEnvironment: {} },
      passwordCost: cheapPasswordCost,
      ...options,
    },
    ({ message }) => log.push(message),
  );
  const database = await openDatabase({ url: databaseUrl, poolSize: 2 });
  closing.push(
    () => server.stop(),
    () => database.close(),
  );
  const owner = (await readFile(join(directory, 'token'), 'utf8')).trim();
  const operator = (await readFile(join(directory, 'operator-token'), 'utf8')).trim();
  const call: Scene['call'] = (method, path, body, authorization = `Token ${owner}`) =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    ...{ server, url: server.url, directory, owner, operator, log, call },
    sql: <Row>(text: string, parameters: readonly unknown[] = []) => database.lookUp(statement<Row>(text, parameters)),
    async person(email, password, { role = 'admin', oneTime = false, passwordCost = cheapPasswordCost } = {}) {
      const [name = ''] = email.split('@');
      const body = { email, name, role, auto_groups: [], is_service_user: false };
      const { id } = (await (await call('POST', '/api/users', body)).json()) as { readonly id: string };
      const account = present(server.account);
      const hash = await hashPassword({ passwordCost }, password);
      await database.inAccount(account, [
        putCredentials({ account, email, user: id, hash, oneTime, at: new Date().toISOString() }).statement,
        statement(
          "insert into directory (account_id, kind, value, subject_id) values ($1, 'email', $2, $3) on conflict do nothing",
          [account, email, id],
        ),
      ]);
      return id;
    },
  };
}
