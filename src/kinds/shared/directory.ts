import type { Activity } from '../../model/declare/kind.ts';
import { boolean, optionalString, setOf, string } from '../../model/schema/field.ts';

const prefix = string({ doc: 'How names begin.', minLength: 1 });

/** Fields that all integrations with directories of users and groups share. */
export const directoryFields = {
  enabled: boolean({ doc: 'Whether users and groups are taken over.', access: 'updateOnly', default: true }),
  group_prefixes: setOf(prefix, {
    doc: 'Only groups whose names begin so are taken over; all of them when there is none.',
  }),
  user_group_prefixes: setOf(prefix, {
    doc: 'Only users in groups whose names begin so are taken over; all of them when there is none.',
  }),
  connector_id: optionalString({
    doc: 'The connector of the embedded identity provider by which these users sign in.',
    omitEmpty: true,
  }),
};

/** Activity codes of integrations. */
export const integrationActivity: Activity = {
  create: 'integration.create',
  update: 'integration.update',
  delete: 'integration.delete',
};
