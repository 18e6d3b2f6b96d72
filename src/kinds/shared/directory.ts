import type { ActivityCodes } from '../../model/declare/kind.ts';
import { boolean, maxEntries, optionalString, setOf, string } from '../../model/schema/field.ts';

const prefix = string({ doc: 'Prefix of names.', minLength: 1 });

/** Fields that all integrations with directories of users and groups share. */
export const directoryFields = {
  enabled: boolean({ doc: 'Whether users and groups are imported.', access: 'updateOnly', default: true }),
  group_prefixes: setOf(prefix, {
    doc: 'Only groups with names that begin with one of these prefixes are imported; all groups if empty.',
    maxItems: maxEntries,
  }),
  user_group_prefixes: setOf(prefix, {
    doc: 'Only users in groups with names that begin with one of these prefixes are imported; all users if empty.',
    maxItems: maxEntries,
  }),
  connector_id: optionalString({
    doc: 'The connector of the embedded identity provider with which these users sign in.',
    omitEmpty: true,
  }),
};

/** Activity codes of integrations. */
export const integrationActivity: ActivityCodes = {
  create: 'integration.create',
  update: 'integration.update',
  delete: 'integration.delete',
};
