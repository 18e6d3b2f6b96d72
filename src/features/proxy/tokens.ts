import type { Call, Engine } from '../../commit/engine.ts';
import { storeOnce, writeUntilKnown } from '../../commit/in-doubt.ts';
import { newIdFor } from '../../commit/new-id.ts';
import {
  createProxyToken,
  deleteProxyToken,
  findProxyToken,
  listProxyTokens,
  type ProxyTokenOwner,
  type ProxyTokenRow,
  readProxyTokenHash,
} from '../../db/proxy/proxy-tokens.ts';
import { sha256Base64 } from '../../lib/node-pure.ts';
import { isWellFormedToken, makeToken, tokenRandomBytes } from '../../lib/token.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { NotFound, Unauthenticated } from '../../model/errors.ts';
import { removeProxies } from '../peers/proxy-peers.ts';

const prefix = 'nbx_';

/** Returns the tokens of the account's reverse proxies, without their values. */
export async function readProxyTokens(engine: Engine, call: Call) {
  return (await listProxyTokens(engine.database, call.account)).map(show);
}

/**
 * Creates a token for reverse proxies. `expires_in` is its lifetime in seconds; 0: it does not expire. Only this answer
 * contains its value.
 */
export async function addProxyToken(
  engine: Engine,
  call: Call,
  { name, expires_in: seconds }: { readonly name: string; readonly expires_in: number },
) {
  const value = makeToken(prefix, engine.planEnvironment.random(tokenRandomBytes));
  const at = engine.now();
  const id = newIdFor(engine, call);
  const expiresAt = seconds === 0 ? null : new Date(Date.parse(at) + seconds * 1000).toISOString();
  const { account, actor } = call;
  const hash = sha256Base64(value);
  const token = { account, id, name, hash, createdBy: actor.id, createdAt: at, expiresAt };
  const event: AuditEvent = { code: 'service.proxy.token.create', target: id, meta: { name } };
  const entry = { actor, at, event };
  const shown = { id, name, created_by: call.actor.id, created_at: at };
  const made = { ...shown, ...(expiresAt === null ? {} : { expires_at: expiresAt }), plain_token: value };
  const kept = call.sealOnce?.({ body: made });
  await storeOnce(
    { requestId: id },
    async () => ((await readProxyTokenHash(engine.database, account, id)) === hash ? 'stored' : undefined),
    async () => {
      await createProxyToken(engine.database, token, entry, kept);
      return 'stored';
    },
  );
  return made;
}

/**
 * Deletes a token, and removes the proxies that use it from the mesh. From then on, the server refuses them. Throws
 * `NotFound`.
 */
export async function removeProxyToken(engine: Engine, call: Call, id: string): Promise<void> {
  const found = (await listProxyTokens(engine.database, call.account)).find((token) => token.id === id);
  const event: AuditEvent = { code: 'service.proxy.token.delete', target: id, meta: { name: found?.name ?? '' } };
  const entry = { actor: call.actor, at: engine.now(), event };
  if (found === undefined) throw new NotFound(`proxy token ${id} not found`);
  // The token existed a moment ago. When a repeated attempt does not find it, the earlier attempt, whose outcome was
  // unknown, deleted it.
  const isDone = await writeUntilKnown(
    { requestId: id },
    async (again) => (await deleteProxyToken(engine.database, call.account, id, entry)) || again,
  );
  if (!isDone) throw new NotFound(`proxy token ${id} not found`);
  await removeProxies(engine, call, id);
}

/** Returns the owner of the token in a proxy's `Authorization` header. Throws `Unauthenticated`. */
export async function authenticateProxy(engine: Engine, header: string | undefined): Promise<ProxyTokenOwner> {
  const [, token = ''] = /^(?:bearer|token) +(\S+)$/i.exec((header ?? '').trim()) ?? [];
  if (token === '') throw new Unauthenticated('no proxy token: send `Authorization: Bearer nbx_…`');
  // A mistyped token costs no database look-up.
  const owner = isWellFormedToken(prefix, token)
    ? await findProxyToken(engine.database, sha256Base64(token))
    : undefined;
  if (owner === undefined) throw new Unauthenticated('the proxy token is invalid; make one for the account');
  if (owner.expired) throw new Unauthenticated('the proxy token has expired; make a new one');
  return owner;
}

function show({ id, name, created_by, created_at, expires_at, last_used }: ProxyTokenRow) {
  return {
    ...{ id, name, created_by, created_at: created_at.toISOString() },
    ...(expires_at === null ? {} : { expires_at: expires_at.toISOString() }),
    ...(last_used === null ? {} : { last_used: last_used.toISOString() }),
  };
}
