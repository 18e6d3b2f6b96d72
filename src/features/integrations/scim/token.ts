import type { Engine } from '../../../commit/engine.ts';
import { findEntries } from '../../../db/accounts/find-entries.ts';
import { createBatchedLookUp } from '../../../db/batch-look-ups.ts';
import { sha256Base64 } from '../../../lib/node-pure.ts';
import { isWellFormedToken } from '../../../lib/token.ts';
import { scimTokenEntry } from '../../../model/declare/provided.ts';
import { ScimRefusal } from './refusal.ts';
import type { ScimCall } from './server.ts';

/** Returns the integration of the token in an `Authorization` header. Throws `ScimRefusal` when there is none. */
export type ScimAuthenticator = (header: string | undefined) => Promise<Omit<ScimCall, 'base'>>;

/** Prefix of the tokens of SCIM integrations. */
const tokenPrefix = 'nbs_';

/** Creates the authenticator of providers. The server stores only the hashes of the integrations' tokens. */
export function createScimAuthenticator({
  database,
  snapshots,
}: Pick<Engine, 'database' | 'snapshots'>): ScimAuthenticator {
  const find = createBatchedLookUp((hashes) => findEntries(database, scimTokenEntry, hashes));
  return async (header) => {
    const [scheme = '', token = '', ...rest] = (header ?? '').trim().split(/\s+/);
    const isToken = scheme.toLowerCase() === 'bearer' && rest.length === 0 && isWellFormedToken(tokenPrefix, token);
    if (!isToken) throw unauthenticated('send the token of a SCIM integration: `Authorization: Bearer nbs_…`');
    const hash = sha256Base64(token);
    const found = await find(hash);
    if (found === undefined) throw unauthenticated('the token is not known; it may have been renewed');
    const { account, subject, revision } = found;
    const integration = (await snapshots.atLeast(account, revision)).find('ScimIntegration', subject);
    if (integration?.derived.token_hash !== hash)
      throw unauthenticated('the token is not known; it may have been renewed');
    if (integration.spec.enabled === false)
      throw new ScimRefusal(403, 'the integration is disabled; set `enabled` to true to import users and groups again');
    return { account, revision, integration: subject };
  };
}

function unauthenticated(message: string): ScimRefusal {
  return new ScimRefusal(401, message);
}
