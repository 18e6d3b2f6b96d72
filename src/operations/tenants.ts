import { tenantAnswers } from '../model/declare/tenant-words.ts';
import { objectOfKind, reference } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { oneOf, string } from '../model/schema/field.ts';

const path = '/api/integrations/msp/tenants';
const params = { id: string({ doc: 'Id of the tenant, which is also the id of its account.' }) };

const body = {
  name: 'Acme Works',
  domain: 'acme.example.com',
  groups: [{ id: 'ch8i4ug6lnn4g9hqv7mg', role: 'admin' }],
};

/** A tenant that was just created. */
const example = {
  id: 'ch8i4ug6lnn4g9hqv7t0',
  ...body,
  status: 'pending',
  dns_challenge: 'heddle-challenge=5d41402abc4b2a76b9719d911017c592a1b2c3d4',
  created_at: '2026-01-02T03:04:05.000Z',
  updated_at: '2026-01-02T03:04:05.000Z',
};

/** Operations that create, delete, verify, invite and unlink tenants. The kind itself lists and replaces them. */
export const tenants = {
  create: defineOperation({
    id: 'createMSPTenant',
    method: 'POST',
    path,
    access: { module: 'msp', operation: 'create' },
    summary: 'Make a tenant',
    doc: 'Also creates the account of the tenant, unless its domain already has one (`existing`), which can then be invited. The server limits how many tenants of an account may wait for the proof of their domain (409).',
    requestOf: 'MSPTenant',
    answer: objectOfKind('MSPTenant'),
    headers: ['ETag'],
    errors: ['conflict'],
    example: { body, answer: example },
  }),
  delete: defineOperation({
    id: 'deleteMSPTenant',
    method: 'DELETE',
    path: `${path}/{id}`,
    access: { module: 'msp', operation: 'delete' },
    summary: 'Remove a tenant that is not active',
    doc: 'When the domain of the tenant was never proved, its account is deleted too, with everything in it, which only an owner may do. An account that existed before is kept.',
    params,
    errors: ['conflict', 'precondition'],
    example: {},
  }),
  verify: defineOperation({
    id: 'verifyMSPTenant',
    method: 'POST',
    path: `${path}/{id}/dns`,
    access: { module: 'msp', operation: 'update' },
    summary: 'Prove the domain of a tenant',
    doc: 'Looks for the TXT record `_heddle-challenge.<domain>`; when it is found, the tenant becomes `active`.',
    params,
    errors: ['conflict', 'precondition'],
    example: {},
  }),
  unlink: defineOperation({
    id: 'unlinkMSPTenant',
    method: 'POST',
    path: `${path}/{id}/unlink`,
    access: { module: 'msp', operation: 'update' },
    summary: 'Let a tenant go',
    doc: 'Makes one of the users of its account the owner of that account.',
    params,
    body: { owner: reference('User', { doc: 'The id of the new owner.' }) },
    errors: ['conflict', 'precondition'],
    example: { body: { owner: 'ch8i4ug6lnn4g9hqv7p0' } },
  }),
  subscribe: defineOperation({
    id: 'subscribeMSPTenant',
    method: 'POST',
    path: `${path}/{id}/subscription`,
    access: { module: 'billing', operation: 'update' },
    tag: 'msp',
    summary: 'Change the subscription of a tenant',
    params,
    body: { priceID: string({ doc: 'Id of the new price.', minLength: 1 }) },
    errors: ['conflict', 'precondition'],
    example: { body: { priceID: 'price_team_monthly' } },
  }),
  invite: defineOperation({
    id: 'inviteMSPTenant',
    method: 'POST',
    path: `${path}/{id}/invite`,
    access: { module: 'msp', operation: 'update' },
    summary: 'Invite the existing account of a domain',
    params,
    answer: objectOfKind('MSPTenant'),
    headers: ['ETag'],
    errors: ['precondition'],
    example: { answer: { ...example, status: 'invited', invited_at: example.updated_at } },
  }),
  answerInvite: defineOperation({
    id: 'answerMSPInvite',
    method: 'PUT',
    path: `${path}/{id}/invite`,
    access: 'anyone',
    tag: 'msp',
    summary: 'Accept or decline an invitation',
    doc: 'For the owner of the invited account; the path contains the id of that account.',
    params,
    body: { value: oneOf(tenantAnswers, { doc: 'The answer.' }) },
    errors: ['conflict', 'precondition'],
    example: { body: { value: 'accept' } },
  }),
};
