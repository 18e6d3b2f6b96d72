import type { Computed } from '../../model/declare/kind.ts';
import type { KindName, Stored } from '../../model/state/stored.ts';

const timestamp = { type: 'string', format: 'date-time' };

/** Computed members with the account and the times of an object, for kinds whose responses show them. */
export const originMembers: Readonly<Record<'account_id' | 'created_at' | 'updated_at', Computed>> = {
  account_id: {
    doc: 'The account that the object belongs to.',
    schema: { type: 'string' },
    value: (_, state) => state.account,
  },
  created_at: { doc: 'When it was made.', schema: timestamp, value: (object) => object.createdAt },
  updated_at: { doc: 'When it last changed.', schema: timestamp, value: (object) => object.updatedAt },
};

/** Computed member with the creator of an object. */
export const createdBy: Computed<Stored<KindName>> = {
  doc: 'Id of the user who made it, or of the source if documents made it.',
  schema: { type: 'string' },
  value: (object) => object.derived.created_by ?? '',
};

/** Computed member with the time when data was last fetched from outside. */
export const lastSyncedAt: Computed<Stored<KindName>> = {
  doc: 'When data was last fetched; absent before the first time.',
  schema: timestamp,
  optional: true,
  value: (object, { observed }) => observed?.(object.id)?.['last_synced_at'] ?? object.derived.last_synced_at,
};
