import { sha256Base64 } from '../../lib/node-pure.ts';
import { makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { defineKind, type GeneratedValues, type GeneratorInput } from '../../model/declare/kind.ts';
import { scimTokenEntry } from '../../model/declare/provided.ts';
import { string } from '../../model/schema/field.ts';
import { directoryFields, integrationActivity } from '../shared/directory.ts';
import { lastSyncedAt } from '../shared/origin.ts';
import { refuseProviderChange } from '../shared/provider-change.ts';

const tokenPrefix = 'nbs_';
/** Number of characters after the prefix that are shown, so that people can tell tokens apart. */
const shownCharacters = 4;

/** Generates a token. Its hash and its first characters are stored. Its value is shown once. */
function newToken({ random }: GeneratorInput): GeneratedValues {
  const token = makeToken(tokenPrefix, random(tokenRandomBytes));
  const visible = tokenPrefix.length + shownCharacters;
  return {
    derived: {
      token_hash: sha256Base64(token),
      auth_token: token.slice(0, visible) + '*'.repeat(token.length - visible),
    },
    outputs: { auth_token: token },
  };
}

const spec = {
  ...directoryFields,
  prefix: string({
    doc: 'Prefix of the connection, which may precede the ids of pushed users when they sign in.',
    required: true,
    minLength: 1,
  }),
  provider: string({
    doc: 'The identity provider that pushes, such as generic, entra or jumpcloud. It cannot change later.',
    access: 'createOnly',
    required: true,
    minLength: 1,
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    ScimIntegration: { fields: typeof spec; derived: ScimIntegrationDerived };
  }
}

/** Data that the server keeps about the token with which the provider signs in. */
interface ScimIntegrationDerived {
  /** SHA-256 of the token, in base64. */
  readonly token_hash: string;
  /** First characters of the token. The others are masked. */
  readonly auth_token: string;
}

export const scimIntegration = defineKind({
  name: 'ScimIntegration',
  doc: 'Lets an identity provider push users and groups by SCIM.',
  path: '/api/integrations/scim-idp',
  ids: 'integer',
  merge: true,
  deleteReply: 'object',
  module: 'idp',
  document: { allowed: true, shortName: 'hscim' },
  observed: 'integrations',
  nameField: 'prefix',
  spec,
  computed: {
    auth_token: {
      doc: 'The token with which the provider signs in: in full when it is made, later only its first characters.',
      schema: { type: 'string' },
      value: (object) => object.derived.auth_token ?? '',
    },
    last_synced_at: lastSyncedAt,
  },
  entries: { [scimTokenEntry]: ({ derived }) => derived.token_hash },
  outputs: ['auth_token'],
  generate: (_, input) => newToken(input),
  checkMutation: refuseProviderChange,
  activity: integrationActivity,
  activityMeta: (object) => ({ platform: object.spec.provider ?? '' }),
  example: {
    group_prefixes: ['mesh-'],
    user_group_prefixes: ['mesh-'],
    prefix: 'staff',
    provider: 'entra',
  },
});
