import { serviceModes } from '../../model/declare/service-words.ts';
import {
  boolean,
  integer,
  keyed,
  list,
  mapOf,
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
    doc: 'For `http`: whether any certificate of the backend will do.',
    default: false,
    asGiven: true,
  }),
  request_timeout: optionalString({
    doc: 'How long the backend may take to answer, such as `30s` or `2m`.',
    format: duration,
    omitEmpty: true,
  }),
  path_rewrite: oneOf(['preserve'], {
    doc: 'For `http`: `preserve` keeps the path as it was asked for; otherwise the prefix `path` is cut off.',
    omitEmpty: true,
  }),
  custom_headers: mapOf(string({ doc: 'Value of the header.', maxLength: 4096 }), {
    doc: 'For `http`: headers that the backend gets besides those of the client.',
    maxItems: 16,
    omitEmpty: true,
  }),
  proxy_protocol: boolean({
    doc: 'For `tcp` and `tls`: whether the backend gets the address of the client by PROXY protocol, version 2.',
    default: false,
    asGiven: true,
  }),
  session_idle_timeout: optionalString({
    doc: 'For `udp`: how long a session may be silent before it is forgotten, such as `30s`.',
    format: duration,
    omitEmpty: true,
  }),
  direct_upstream: boolean({
    doc: 'Whether the proxy reaches `host` by its own network in place of the mesh.',
    default: false,
    asGiven: true,
  }),
};

const targetFields = {
  target_id: refByType(
    'target_type',
    { peer: 'Peer', host: 'NetworkResource', subnet: 'NetworkResource', domain: 'NetworkResource' },
    { doc: 'The peer or network resource that serves; for `cluster` the address of the cluster.', required: true },
  ),
  target_type: oneOf(['peer', 'host', 'subnet', 'domain', 'cluster'], {
    doc: 'What `target_id` is: a peer, a network resource of this type, or a cluster of proxies.',
    required: true,
  }),
  path: optionalString({
    doc: 'For `http`: the beginning of the paths that this target answers.',
    format: pathPrefix,
    omitEmpty: true,
  }),
  protocol: oneOf(['http', 'https', 'tcp', 'udp'], { doc: 'How the backend is spoken to.', required: true }),
  host: optionalString({
    doc: 'Address or name of the backend, for `subnet` and `cluster` and with `direct_upstream`. Otherwise it follows from the target.',
    format: hostname,
  }),
  // Callers who are exempt from this limit may send 0, which stands for the usual port of `http` or `https`.
  port: integer({ doc: 'Port of the backend.', required: true, minimum: 1, maximum: 65535 }),
  enabled: boolean({ doc: 'Whether requests are led to this target.', required: true, documentDefault: true }),
  options: object(optionFields, { doc: 'How the backend is reached in detail.', default: {} }),
};

const enabled = boolean({ doc: 'Whether this way of signing in is offered.', required: true });

/** Each sign-in method is one unit, because half a method would let other people in than intended. */
const authFields = {
  password_auth: object(
    {
      enabled,
      password: secret({ doc: 'The password. Never shown; leave it empty to keep it.', read: 'empty', keep: true }),
    },
    { doc: 'One password for everybody.', whole: true },
  ),
  pin_auth: object(
    { enabled, pin: secret({ doc: 'The PIN. Never shown; leave it empty to keep it.', read: 'empty', keep: true }) },
    { doc: 'One PIN for everybody.', whole: true },
  ),
  bearer_auth: object(
    {
      enabled,
      distribution_groups: refs('Group', { doc: 'Groups whose users are let in. None: every user of the account.' }),
    },
    { doc: 'Users of the account sign in as themselves.', whole: true },
  ),
  link_auth: object({ enabled }, { doc: 'A link that lets its holder in.', whole: true }),
  header_auths: keyed(
    {
      enabled,
      header: string({ doc: 'Name of the header.', required: true, minLength: 1, maxLength: 128 }),
      value: secret({
        doc: 'The value that is expected. Never shown; leave it empty to keep it.',
        read: 'empty',
        keep: true,
      }),
    },
    { doc: 'Headers whose value lets a request in.', key: 'header', omitEmpty: true },
  ),
};

const countries = string({ doc: 'Two letters of ISO 3166-1.', format: country });
const ranges = string({ doc: 'A range of addresses.', format: cidr });

const restrictionFields = {
  allowed_cidrs: setOf(ranges, {
    doc: 'When given, only clients from these ranges are let in.',
    maxItems: 200,
    asGiven: true,
  }),
  blocked_cidrs: setOf(ranges, {
    doc: 'Clients from these ranges are turned away, allowed or not.',
    maxItems: 200,
    asGiven: true,
  }),
  allowed_countries: setOf(countries, {
    doc: 'When given, only clients from these countries are let in.',
    maxItems: 50,
    asGiven: true,
  }),
  blocked_countries: setOf(countries, {
    doc: 'Clients from these countries are turned away.',
    maxItems: 50,
    asGiven: true,
  }),
  reputation_mode: oneOf(['off', 'enforce', 'observe'], {
    doc: 'Whether addresses of bad repute are turned away or only noted. Needs a cluster that knows them.',
    default: 'off',
    asGiven: true,
    formerly: ['crowdsec_mode'],
  }),
};

/** Fields of a service. */
export const serviceFields = {
  name: string({ doc: 'The name people see.', required: true, minLength: 1, maxLength: 255 }),
  domain: string({
    doc: 'The name under which the service is reached. No two services share one. Its end says which cluster serves it: the address of the cluster, or a custom domain that leads to it.',
    required: true,
    minLength: 1,
    format: domain,
  }),
  mode: oneOf(serviceModes, {
    doc: 'What is forwarded: requests (`http`), or connections as they are. It cannot change.',
    default: 'http',
    keep: true,
  }),
  listen_port: integer({
    doc: 'For `tcp`, `udp` and `tls`: the port of the cluster. With 0 the server chooses one, which then stays.',
    default: 0,
    serverChosen: 0,
    minimum: 0,
    maximum: 65535,
  }),
  targets: list(object(targetFields, { doc: 'A backend.' }), {
    doc: 'Where requests are led to. Without any the service waits. At most one for `tcp`, `udp` and `tls`.',
  }),
  enabled: boolean({ doc: 'Whether the service is offered.', required: true, documentDefault: true }),
  pass_host_header: boolean({
    doc: 'Whether the backend sees the name that the client asked for, in place of its own.',
    default: false,
  }),
  rewrite_redirects: boolean({
    doc: 'Whether redirects to the address of the backend are turned into ones to the domain.',
    default: false,
  }),
  auth: object(authFields, { doc: 'Ways to sign in; any one that is enabled lets in.', default: {}, closed: true }),
  access_restrictions: object(restrictionFields, {
    doc: 'Which clients are let in at all, by address and country.',
    default: {},
    closed: true,
    omitEmpty: true,
  }),
  private: boolean({
    doc: 'Whether the service is reached through the mesh alone, by the peers of `access_groups`. Only for `http`.',
    default: false,
  }),
  access_groups: refs('Group', {
    doc: 'For private services: groups whose peers reach it. Ignored otherwise.',
    omitEmpty: true,
    onlyWith: 'private',
  }),
};

/** Canonical spec of a service. */
export type ServiceSpec = SpecOf<typeof serviceFields>;
export type Target = ServiceSpec['targets'][number];
export type Auth = ServiceSpec['auth'];
