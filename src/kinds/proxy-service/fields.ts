import { serviceModes } from '../../model/declare/service-words.ts';
import {
  boolean,
  integer,
  keyed,
  list,
  mapOf,
  maxEntries,
  object,
  oneOf,
  optionalString,
  refByType,
  refs,
  type SpecOf,
  secret,
  setOf,
  string,
} from '../../model/schema/field.ts';
import { cidr, domain } from '../shared/formats.ts';
import { country, duration, hostname, pathPrefix } from './formats.ts';

const optionFields = {
  skip_tls_verify: boolean({
    doc: 'For `http`: whether the certificate of the backend is accepted without verification.',
    default: false,
    omitUnlessGiven: true,
  }),
  request_timeout: optionalString({
    doc: 'How long the backend may take to answer, such as `30s` or `2m`.',
    format: duration,
    omitEmpty: true,
  }),
  path_rewrite: oneOf(['preserve'], {
    doc: 'For `http`: `preserve` keeps the requested path; otherwise the prefix `path` is removed.',
    omitEmpty: true,
  }),
  custom_headers: mapOf(string({ doc: 'Value of the header.', maxLength: 4096 }), {
    doc: 'For `http`: headers that the backend receives in addition to those of the client.',
    maxItems: 16,
    omitEmpty: true,
  }),
  proxy_protocol: boolean({
    doc: 'For `tcp` and `tls`: whether the backend receives the address of the client through PROXY protocol, version 2.',
    default: false,
    omitUnlessGiven: true,
  }),
  session_idle_timeout: optionalString({
    doc: 'For `udp`: time without traffic after which a session ends, such as `30s`.',
    format: duration,
    omitEmpty: true,
  }),
  direct_upstream: boolean({
    doc: 'Whether the proxy reaches `host` through its own network instead of the mesh.',
    default: false,
    omitUnlessGiven: true,
  }),
};

const targetFields = {
  target_id: refByType(
    'target_type',
    { peer: 'Peer', host: 'NetworkResource', subnet: 'NetworkResource', domain: 'NetworkResource' },
    { doc: 'The peer or network resource that serves; for `cluster`, the address of the cluster.', required: true },
  ),
  target_type: oneOf(['peer', 'host', 'subnet', 'domain', 'cluster'], {
    doc: 'Type of `target_id`: a peer, a network resource of this type, or a cluster of proxies.',
    required: true,
  }),
  path: optionalString({
    doc: 'For `http`: prefix of the paths that this target serves.',
    format: pathPrefix,
    omitEmpty: true,
  }),
  protocol: oneOf(['http', 'https', 'tcp', 'udp'], {
    doc: 'Protocol of the connection to the backend.',
    required: true,
  }),
  host: optionalString({
    doc: 'Address or name of the backend, for `subnet` and `cluster` and with `direct_upstream`. Otherwise it is derived from the target.',
    format: hostname,
  }),
  port: integer({
    doc: 'Port of the backend. In a document, 0 means the default port of `http` or `https`.',
    required: true,
    minimum: 1,
    maximum: 65535,
    inDocuments: { minimum: 0 },
  }),
  enabled: boolean({ doc: 'Whether requests are sent to this target.', required: true, documentDefault: true }),
  options: object(optionFields, { doc: 'Options of the connection to the backend.', default: {} }),
};

const enabledField = boolean({ doc: 'Whether this way of signing in is offered.', required: true });

/** Each sign-in method is one unit, because half a method would let other people in than intended. */
const authFields = {
  password_auth: object(
    {
      enabled: enabledField,
      password: secret({
        doc: 'The password. Never shown; leave it empty to keep the stored one.',
        read: 'empty',
        keptOnReplace: true,
      }),
    },
    { doc: 'One password for all users.', atomic: true },
  ),
  pin_auth: object(
    {
      enabled: enabledField,
      pin: secret({
        doc: 'The PIN. Never shown; leave it empty to keep the stored one.',
        read: 'empty',
        keptOnReplace: true,
      }),
    },
    { doc: 'One PIN for all users.', atomic: true },
  ),
  bearer_auth: object(
    {
      enabled: enabledField,
      distribution_groups: refs('Group', {
        doc: 'Groups of users that are let in. If empty, every user of the account.',
      }),
    },
    { doc: 'Sign-in as a user of the account.', atomic: true },
  ),
  link_auth: object({ enabled: enabledField }, { doc: 'A link that lets in everyone who has it.', atomic: true }),
  header_auths: keyed(
    {
      enabled: enabledField,
      header: string({ doc: 'Name of the header.', required: true, minLength: 1, maxLength: 128 }),
      value: secret({
        doc: 'The expected value. Never shown; leave it empty to keep the stored one.',
        read: 'empty',
        keptOnReplace: true,
      }),
    },
    {
      doc: 'Headers that let a request in when they have the expected value.',
      key: 'header',
      maxItems: 100,
      omitEmpty: true,
    },
  ),
};

const countryField = string({ doc: 'Two letters of ISO 3166-1.', format: country });
const rangeField = string({ doc: 'A range of addresses.', format: cidr });

const restrictionFields = {
  allowed_cidrs: setOf(rangeField, {
    doc: 'When given, only clients from these ranges are let in.',
    maxItems: 200,
    omitUnlessGiven: true,
  }),
  blocked_cidrs: setOf(rangeField, {
    doc: 'Clients from these ranges are rejected, even if they are also allowed.',
    maxItems: 200,
    omitUnlessGiven: true,
  }),
  allowed_countries: setOf(countryField, {
    doc: 'When given, only clients from these countries are let in.',
    maxItems: 50,
    omitUnlessGiven: true,
  }),
  blocked_countries: setOf(countryField, {
    doc: 'Clients from these countries are rejected.',
    maxItems: 50,
    omitUnlessGiven: true,
  }),
  reputation_mode: oneOf(['off', 'enforce', 'observe'], {
    doc: 'Whether addresses with a bad reputation are rejected (`enforce`) or only recorded (`observe`). Needs a cluster that supports it.',
    default: 'off',
    omitUnlessGiven: true,
    foreignNames: ['crowdsec_mode'],
  }),
};

/** Fields of a service. */
export const serviceFields = {
  name: string({ doc: 'The name people see.', required: true, minLength: 1, maxLength: 255 }),
  domain: string({
    doc: 'The name under which the service is reached. No two services share one. Its suffix decides which cluster serves it: the address of the cluster, or a custom domain that points to it.',
    required: true,
    minLength: 1,
    format: domain,
  }),
  mode: oneOf(serviceModes, {
    doc: 'What is forwarded: requests (`http`), or connections unchanged. It cannot change.',
    default: 'http',
    keptOnReplace: true,
  }),
  listen_port: integer({
    doc: 'For `tcp`, `udp` and `tls`: the port of the cluster. With 0 the server chooses one and keeps it.',
    default: 0,
    serverChosen: 0,
    minimum: 0,
    maximum: 65535,
  }),
  targets: list(object(targetFields, { doc: 'A backend.' }), {
    doc: 'Backends that requests are sent to. Without any, the service waits for one. At most one for `tcp`, `udp` and `tls`.',
    maxItems: maxEntries,
  }),
  enabled: boolean({ doc: 'Whether the service is offered.', required: true, documentDefault: true }),
  pass_host_header: boolean({
    doc: 'Whether the backend receives the host name that the client requested, instead of the name of the backend.',
    default: false,
  }),
  rewrite_redirects: boolean({
    doc: 'Whether redirects to the address of the backend are rewritten to the domain.',
    default: false,
  }),
  auth: object(authFields, { doc: 'Ways to sign in; any enabled one is enough.', default: {}, refusesUnknown: true }),
  access_restrictions: object(restrictionFields, {
    doc: 'Restrictions of clients by address and country.',
    default: {},
    refusesUnknown: true,
    omitEmpty: true,
  }),
  private: boolean({
    doc: 'Whether the service is reached only through the mesh, by the peers of `access_groups`. Only for `http`.',
    default: false,
  }),
  access_groups: refs('Group', {
    doc: 'For private services: groups of peers that reach it. Ignored otherwise.',
    omitEmpty: true,
    enabledBy: 'private',
  }),
};

/** Canonical spec of a service. */
export type ServiceSpec = SpecOf<typeof serviceFields>;
export type ServiceTarget = ServiceSpec['targets'][number];
export type Auth = ServiceSpec['auth'];
