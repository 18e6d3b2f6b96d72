import type { Call, Engine } from '../../../commit/engine.ts';
import { checkSoon, isProvedElsewhere, readDomainFindings } from '../../../db/proxy/domains.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { canonicalDomain } from '../../../lib/net/domain.ts';
import { Conflict, NotFound } from '../../../model/errors.ts';
import { readableNames } from '../../../objects/object-list.ts';
import { createObject, type WriteOptions, type Written } from '../../../objects/objects.ts';
import type { AccountStatus } from '../../../operations/config/status.ts';

/** Makes a custom domain, unless another account has proved that it is theirs. */
export async function createDomain(
  engine: Engine,
  call: Call,
  body: JsonObject,
  options: WriteOptions,
): Promise<Written> {
  const name = canonicalDomain(String(body['domain'])) ?? '';
  if (await isProvedElsewhere(engine.database, call.account, name))
    throw new Conflict(
      'taken',
      `the domain ${name} already exists in another account of this server, which has proved it; have it deleted there, or remove its TXT record`,
    );
  return createObject(engine, call, engine.registry.get('ProxyDomain'), body, options);
}

/** Between two checks that people ask for, in seconds. */
const restSeconds = 5;

/** Has the records of a custom domain looked up now. Throws `NotFound`. */
export async function validateDomain(engine: Engine, call: Call, id: string): Promise<void> {
  const state = await engine.snapshots.at(call.account, call.revision);
  if (state.find('ProxyDomain', id) === undefined) throw new NotFound(`proxydomain ${id} not found`);
  await checkSoon(engine.database, call.account, id, restSeconds);
  engine.notices.publish({ what: 'domains', account: call.account });
}

type TroubledDomain = NonNullable<AccountStatus['domains']>[number];

/** The custom domains that do not validate, as far as the caller may see them, and what is expected and found. */
export async function troubledDomains(engine: Engine, call: Call): Promise<readonly TroubledDomain[]> {
  const state = await engine.snapshots.at(call.account, call.revision);
  if (!readableNames(state, call)('ProxyDomain') || state.countOf('ProxyDomain') === 0) return [];
  const findings = await readDomainFindings(engine.database, call.account);
  const problems = new Map(findings.map(({ domain_id, problem }) => [domain_id, problem] as const));
  return state.ofKind('ProxyDomain').flatMap(({ id, key, name }) => {
    const message = problems.get(id) ?? undefined;
    return message === undefined ? [] : [{ id, ...(key === undefined ? {} : { key }), domain: name, message }];
  });
}
