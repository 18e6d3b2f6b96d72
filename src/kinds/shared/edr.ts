import type { KindDeclaration } from '../../model/declare/kind.ts';
import { boolean, type Fields, integer, object, refs, secret, string } from '../../model/schema/field.ts';
import { createdBy, lastSyncedAt, originMembers } from './origin.ts';
import { webUrl } from './web-url.ts';

/** Fields that all integrations with endpoint-security products share. */
export const edrFields = {
  groups: refs('Group', {
    doc: 'Groups of peers that the product must know and approve.',
    required: true,
    answer: 'full',
  }),
  enabled: boolean({ doc: 'Whether the product decides which peers are approved.', default: true }),
};

/** Address of the API of a product that customers host themselves. */
export const apiUrl = string({ doc: 'URL of the API of the product.', required: true, minLength: 1, format: webUrl });

/** Token for the API of a product. */
export const apiToken = secret({
  doc: 'Token for the API of the product. It is never shown.',
  required: true,
});

/** Returns the field with the conditions that a peer must meet. `fields` are the product's own. */
export function matchAttributes<F extends Fields>(fields: F) {
  return object(fields, {
    doc: 'Conditions that a peer must meet to be approved. Omitted conditions are not checked.',
    required: true,
    documentDefault: {},
  });
}

/** Maximum age of a product's data, where the user sets it. */
export const lastSyncedInterval = integer({
  doc: 'Maximum age of the data of the product. A device that the product has not seen for this time is not approved, and when the product cannot be queried for this time, no peer of the groups is let in.',
  required: true,
  minimum: 24,
  unit: 'hours',
});

/** Computed members that all integrations with endpoint-security products share. */
export const edrComputed = { ...originMembers, created_by: createdBy, last_synced_at: lastSyncedAt };

/** Returns the other declarations that all kinds of endpoint-security integrations share. */
export function edrKind(vendor: string) {
  return {
    path: `/api/integrations/edr/${vendor}`,
    ids: 'integer',
    single: true,
    observed: 'integrations',
    deleteReply: 'object',
    module: 'edr',
    document: { allowed: true, shortName: `hedr${vendor.replace('vendor-', '')}` },
    verbs: ['create', 'read', 'replace', 'delete'],
    activity: {
      create: 'integrated-validator.api.created',
      update: 'integrated-validator.api.updated',
      delete: 'integrated-validator.api.deleted',
    },
    activityMeta: () => ({ platform: vendor }),
  } as const satisfies Partial<KindDeclaration>;
}
