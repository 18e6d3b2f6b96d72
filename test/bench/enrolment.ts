import { createEngine } from '../../src/app.ts';
import { openDatabase } from '../../src/db/database.ts';
import { withMemberEdits } from '../../src/model/state/members.ts';
import type { ServedHeddle } from '../setup/heddle.ts';
import { putObjects } from '../setup/objects.ts';
import { addPeers } from '../setup/peers.ts';
import { type LoadGenerator, type LoadResult, startLoadGenerator } from './load.ts';
import type { Benchmark, Row } from './result.ts';
import { request, serve } from './served.ts';
import type { Stand } from './stand.ts';
import { median } from './timing.ts';

const clients = 64;
const machines = 800;
const rounds = 3;
const milliseconds = 1500;
const sizes = [0, 2000, 5000];

/** Enrolments over HTTP into accounts of several sizes, with all rules. Reference: bare transactions. */
export const enrolment: Benchmark = {
  name: 'enrolment',
  async run(stand) {
    using load = startLoadGenerator();
    const rows: Row[] = [];
    let empty: number | undefined;
    for (const size of sizes) {
      const { figure, bare, lean } = await measure(stand, load, size);
      const account = `account of ${size.toLocaleString('en')} peers`;
      const what = `enrolments of ${clients} clients, ${account}`;
      const shared = { unit: '/s', figure } as const;
      rows.push({ what, ...shared, reference: bare, budget: { is: 'at least', value: 0.25 } });
      rows.push({ what: `the same against transactions of one row and its audit row`, ...shared, reference: lean });
      if (empty === undefined) empty = figure;
      else rows.push({ what: 'the same against the empty account', ...shared, reference: empty });
    }
    return rows;
  },
};

async function measure(stand: Stand, load: LoadGenerator, size: number) {
  const url = await stand.postgres();
  await using server = await serve({ url, dataDir: await stand.directory() });
  const setupKey = await prepareAccount(server, url, size);
  const enrol = () => load.run({ type: 'enrolments', url: server.url, setupKey, clients, machines });
  // Warm-up: code is compiled and statements are planned before the measurement starts.
  await load.run({ type: 'enrolments', url: server.url, setupKey, clients, machines: 200 });
  const results: { readonly figure: LoadResult; readonly bare: LoadResult; readonly lean: LoadResult }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const figure = await enrol();
    const bare = await load.run({ type: 'bare enrolments', url, clients, milliseconds });
    const lean = await load.run({ type: 'transactions', url, clients, milliseconds });
    results.push({ figure, bare, lean });
  }
  const middle = (name: 'figure' | 'bare' | 'lean') => median(results.map((result) => result[name].perSecond));
  return { figure: middle('figure'), bare: middle('bare'), lean: middle('lean') };
}

/**
 * Creates a group that has IPv6 and contains all peers, and a setup key for this group that admits many machines.
 * Returns the setup key.
 */
async function prepareAccount(server: ServedHeddle, url: string, size: number): Promise<string> {
  const group = (await request(server, 'POST', '/api/groups', { name: 'Runners' })) as { readonly id: string };
  const [account] = (await request(server, 'GET', '/api/accounts')) as readonly [AccountBody];
  const settings = { ...account.settings, ipv6_enabled_groups: [group.id] };
  await request(server, 'PUT', `/api/accounts/${account.id}`, { ...account, settings });
  const database = await openDatabase({ url, poolSize: 1 });
  const engine = createEngine({ database });
  const { account: id } = (await request(server, 'GET', '/api/config/status')) as { readonly account: string };
  const peers = await addPeers(
    engine,
    id,
    Array.from({ length: size }, (_, at) => `peer-${at}`),
  );
  await putObjects(engine, id, (state) => {
    const before = state.get(group.id);
    if (before === undefined) throw new Error('the group is gone');
    return [
      withMemberEdits(
        before,
        'peers',
        peers.map((peer) => [peer, ['enrolment']]),
      ),
    ];
  });
  await engine.committer.settle();
  await database.close();
  const key = (await request(server, 'POST', '/api/setup-keys', {
    ...{ name: 'Key', type: 'reusable', expires_in: 86_400, auto_groups: [group.id] },
    ...{ usage_limit: 100_000, ephemeral: false, allow_extra_dns_labels: true },
  })) as { readonly key: string };
  return key.key;
}

interface AccountBody {
  readonly id: string;
  readonly settings: object;
}
