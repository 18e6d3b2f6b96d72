import type { Call, Engine } from '../../../commit/engine.ts';
import { isProvedElsewhere, readDomainFindings, scheduleCheck } from '../../../db/proxy/domains.ts';
import { asTextOrEmpty, type JsonObject } from '../../../lib/json.ts';
import { canonicalDomain } from '../../../lib/net/domain.ts';
import { Conflict, NotFound } from '../../../model/errors.ts';
import { createKindNameReadCheck } from '../../../objects/object-list.ts';
import { createObject, type WriteOptions, type WriteResult } from '../../../objects/objects.ts';
import type { AccountStatus } from '../../../operations/config/status.ts';

/** Creates a custom domain. Throws `Conflict` when another account has proved the domain. */
export async function createDomain(
  engine: Engine,
  call: Call,
  body: JsonObject,
  options: WriteOptions,
): Promise<WriteResult> {
  const name = canonicalDomain(asTextOrEmpty(body['domain'])) ?? '';
  if (await isProvedElsewhere(engine.database, call.account, name))
    throw new Conflict(
      'taken',
      `the domain ${name} already exists in another account of this server, which has proved its ownership; have it deleted there, or remove its TXT record`,
    );
  return createObject(engine, call, engine.registry.get('ProxyDomain'), body, options);
}

/** Minimum time between two checks that users request, in seconds. */
const minCheckIntervalSeconds = 5;

/** Requests a check of a custom domain as soon as possible. Throws `NotFound`. */
export async function validateDomain(engine: Engine, call: Call, id: string): Promise<void> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  if (state.find('ProxyDomain', id) === undefined) throw new NotFound(`proxy domain ${id} not found`);
  await scheduleCheck(engine.database, call.account, id, minCheckIntervalSeconds);
  engine.notices.publish({ what: 'domains', account: call.account });
}

type UnprovedDomain = NonNullable<AccountStatus['domains']>[number];

/**
 * Returns the custom domains that the caller may read and that are not proved, with the records that were expected and
 * found.
 */
export async function findUnprovedDomains(engine: Engine, call: Call): Promise<readonly UnprovedDomain[]> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  if (!createKindNameReadCheck(state, call)('ProxyDomain') || state.countOf('ProxyDomain') === 0) return [];
  const findings = await readDomainFindings(engine.database, call.account);
  const problems = new Map(findings.map(({ domain_id, problem }) => [domain_id, problem] as const));
  return state.ofKind('ProxyDomain').flatMap(({ id, key, name }) => {
    const message = problems.get(id) ?? undefined;
    return message === undefined ? [] : [{ id, ...(key === undefined ? {} : { key }), domain: name, message }];
  });
}
