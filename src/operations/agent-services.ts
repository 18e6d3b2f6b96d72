import { serviceModes } from '../model/declare/service-words.ts';
import { optional, text, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { integer, object, oneOf, string } from '../model/schema/field.ts';
import { agentDocPrefix, sessionDeclaration } from './agent.ts';

const path = '/agent/services';

const port = (doc: string) => integer({ doc, minimum: 1, maximum: 65535 });
const secretLength = { minLength: 1, maxLength: 255 };
const mode = oneOf(serviceModes, { doc: 'Mode of the service: what is forwarded.' });

const exposed = object(
  {
    id: string({ doc: 'The id of the service.' }),
    domain: string({ doc: 'Domain at which the service is reached.' }),
    mode,
    listen_port: optional(port('Port on the cluster, for every mode except `http`.')),
    expires_at: time({ doc: 'Time at which the exposure ends unless it is renewed.' }),
  },
  { doc: 'A service that a peer exposes.', schema: 'ExposedService' },
);

const example = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7ng', domain: 'runner-7-8080.proxy.example.com', mode: 'http' },
  expires_at: '2026-12-02T00:10:00.000Z',
};

const session = `${agentDocPrefix} \`Authorization: Peer <session>\`.`;
const allowed = `${session} The account must allow it with \`peer_expose_enabled\` and \`peer_expose_groups\`.`;

const params = { serviceId: string({ doc: 'The id of the service.' }) };

/** Operations by which peers expose, renew and withdraw services. */
export const agentServices = {
  expose: defineOperation({
    ...sessionDeclaration,
    id: 'exposeService',
    method: 'POST',
    path,
    summary: 'Expose a local service',
    doc: `${allowed} The reverse proxy offers a local service of a connected peer for ten minutes, unless the peer renews it. A repeated request for the same service extends the exposure.`,
    uncheckedBody: {
      port: port('Port on which the service listens on the machine.'),
      mode: optional(mode),
      name: optional(text('First label of the domain. Default: made from the name of the peer and the port.')),
      cluster: optional(text('Address of the proxy cluster. Default: a cluster of the account.')),
      password: optional(
        string({
          doc: 'Password that grants access. Without password and PIN everyone has access.',
          ...secretLength,
        }),
      ),
      pin: optional(string({ doc: 'PIN that grants access.', ...secretLength })),
    },
    answer: exposed,
    noStore: true,
    errors: ['unauthenticated', 'not_allowed', 'conflict'],
    example: { body: { port: 8080, password: 'correct horse' }, answer: example },
  }),
  renew: defineOperation({
    ...sessionDeclaration,
    id: 'renewService',
    method: 'POST',
    path: `${path}/{serviceId}/renew`,
    summary: 'Renew the exposure of a service',
    doc: `${allowed} The ten minutes start again.`,
    params,
    answer: exposed,
    noStore: true,
    example: { params: { serviceId: example.id }, answer: example },
  }),
  withdraw: defineOperation({
    ...sessionDeclaration,
    id: 'withdrawService',
    method: 'DELETE',
    path: `${path}/{serviceId}`,
    summary: 'Stop exposing a service',
    doc: session,
    params,
    example: { params: { serviceId: example.id } },
  }),
};
