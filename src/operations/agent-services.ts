import { serviceModes } from '../model/declare/service-words.ts';
import { optional, text, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { integer, object, oneOf, string } from '../model/schema/field.ts';
import { ofSession, outside } from './agent.ts';

const path = '/agent/services';

const port = (doc: string) => integer({ doc, minimum: 1, maximum: 65535 });
const secretLength = { minLength: 1, maxLength: 255 };
const mode = oneOf(serviceModes, { doc: 'What is forwarded.' });

const exposed = object(
  {
    id: string({ doc: 'The id of the service.' }),
    domain: string({ doc: 'Where it is reached.' }),
    mode,
    listen_port: optional(port('The port of the cluster, for every mode but `http`.')),
    expires_at: time({ doc: 'When it ends unless it is renewed.' }),
  },
  { doc: 'A service that a peer exposes.', schema: 'ExposedService' },
);

const example = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7ng', domain: 'runner-7-8080.proxy.example.com', mode: 'http' },
  expires_at: '2026-12-02T00:10:00.000Z',
};

const session = `${outside} \`Authorization: Peer <session>\`.`;
const allowed = `${session} The account has to allow it by \`peer_expose_enabled\` and \`peer_expose_groups\`.`;

const params = { serviceId: string({ doc: 'The id of the service.' }) };

/** Operations by which peers expose, renew and withdraw services. */
export const agentServices = {
  expose: defineOperation({
    ...ofSession,
    id: 'exposeService',
    method: 'POST',
    path,
    summary: 'Expose a local service',
    doc: `${allowed} A connected peer offers what it serves locally through the reverse proxy, for ten minutes unless it renews that. Asked for the same again, it goes on.`,
    uncheckedBody: {
      port: port('Where the service listens on the machine.'),
      mode: optional(mode),
      name: optional(text('The first label of the domain; made of the name of the peer and the port unless given.')),
      cluster: optional(text('The address of the cluster of proxies; one of the account unless given.')),
      password: optional(
        string({
          doc: 'Grants access to everyone who knows it. Without password and PIN everyone has access.',
          ...secretLength,
        }),
      ),
      pin: optional(string({ doc: 'Grants access to everyone who knows it.', ...secretLength })),
    },
    answer: exposed,
    noStore: true,
    errors: ['unauthenticated', 'not_allowed', 'conflict'],
    example: { body: { port: 8080, password: 'correct horse' }, answer: example },
  }),
  renew: defineOperation({
    ...ofSession,
    id: 'renewService',
    method: 'POST',
    path: `${path}/{serviceId}/renew`,
    summary: 'Go on exposing a service',
    doc: `${allowed} The ten minutes begin anew.`,
    params,
    answer: exposed,
    noStore: true,
    example: { params: { serviceId: example.id }, answer: example },
  }),
  withdraw: defineOperation({
    ...ofSession,
    id: 'withdrawService',
    method: 'DELETE',
    path: `${path}/{serviceId}`,
    summary: 'Stop exposing a service',
    doc: session,
    params,
    example: { params: { serviceId: example.id } },
  }),
};
