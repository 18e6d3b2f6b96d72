import { defineOperation } from '../model/operation/operation.ts';
import { string } from '../model/schema/field.ts';

/** Operations on custom domains other than those of their kind. */
export const proxyDomains = {
  validate: defineOperation({
    id: 'validateProxyDomain',
    method: 'GET',
    path: '/api/reverse-proxies/domains/{domainId}/validate',
    access: { module: 'services', operation: 'update' },
    summary: 'Check the records of a custom domain now',
    doc: 'Starts the check and does not wait for it: `status` and `message` of the domain show the result.',
    params: { domainId: string({ doc: 'The id of the domain.' }) },
    status: 202,
    hasSideEffects: true,
    errors: ['not_found'],
    example: {},
  }),
};
