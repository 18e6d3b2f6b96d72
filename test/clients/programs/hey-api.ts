import { createClient, createConfig } from './sdk/client/index.js';
import * as sdk from './sdk/sdk.gen.js';
import { type Account, found, one, sent, type Trips, trip } from './trip.js';

/** Placeholder for a secret, which no response contains. The server keeps the stored secret. */
const kept = '****';

/** Returns a read-modify-write of every collection with the functions that `@hey-api/openapi-ts` generates. */
export function trips({ baseUrl, token, mark, group }: Account): Trips {
  const client = createClient(createConfig({ baseUrl, auth: token }));
  return {
    '/api/accounts/{accountId}': (accountId: string) =>
      trip({
        read: () => one(sent(sdk.listAccounts({ client })), accountId),
        change: (account) => ({
          ...account,
          settings: { ...account.settings, peer_login_expiration: account.settings.peer_login_expiration + 3600 },
        }),
        write: (body) => sent(sdk.replaceAccount({ client, path: { accountId }, body })),
      }),
    '/api/dns/nameservers/{nsgroupId}': (nsgroupId: string) =>
      trip({
        read: () => sent(sdk.readNameserverGroup({ client, path: { nsgroupId } })),
        change: (group) => ({ ...group, name: mark }),
        write: (body) => sent(sdk.replaceNameserverGroup({ client, path: { nsgroupId }, body })),
      }),
    '/api/dns/settings': () =>
      trip({
        read: () => sent(sdk.readDnsSettings({ client })),
        change: (settings) => ({
          ...settings,
          disabled_management_groups: settings.disabled_management_groups.length === 0 ? [group] : [],
        }),
        write: (body) => sent(sdk.replaceDnsSettings({ client, body })),
      }),
    '/api/dns/zones/{zoneId}': (zoneId: string) =>
      trip({
        read: () => sent(sdk.readDnsZone({ client, path: { zoneId } })),
        change: (zone) => ({ ...zone, name: mark }),
        write: (body) => sent(sdk.replaceDnsZone({ client, path: { zoneId }, body })),
      }),
    '/api/dns/zones/{zoneId}/records/{recordId}': (zoneId: string, recordId: string) =>
      trip({
        read: () => sent(sdk.readDnsRecord({ client, path: { zoneId, recordId } })),
        change: (record) => ({ ...record, ttl: record.ttl + 60 }),
        write: (body) => sent(sdk.replaceDnsRecord({ client, path: { zoneId, recordId }, body })),
      }),
    '/api/event-streaming/{id}': (id: string) =>
      trip({
        read: () => sent(sdk.readEventStreaming({ client, path: { id: Number(id) } })),
        change: (stream) => ({ ...stream, enabled: !stream.enabled }),
        write: (body) => sent(sdk.replaceEventStreaming({ client, path: { id: body.id }, body })),
      }),
    '/api/groups/{groupId}': (groupId: string) =>
      trip({
        read: () => sent(sdk.readGroup({ client, path: { groupId } })),
        change: (group) => ({ ...group, name: mark }),
        write: (body) => sent(sdk.replaceGroup({ client, path: { groupId }, body })),
      }),
    '/api/ingress/peers/{ingressPeerId}': (ingressPeerId: string) =>
      trip({
        read: () => sent(sdk.readIngressPeer({ client, path: { ingressPeerId } })),
        change: (peer) => ({ ...peer, enabled: !peer.enabled }),
        write: (body) => sent(sdk.replaceIngressPeer({ client, path: { ingressPeerId }, body })),
      }),
    '/api/integrations/directory-idp/{id}': (id: string) =>
      trip({
        read: () => sent(sdk.readDirectoryIntegration({ client, path: { id: Number(id) } })),
        change: (directory) => ({ ...directory, group_prefixes: [mark] }),
        write: (body) => sent(sdk.replaceDirectoryIntegration({ client, path: { id: body.id }, body })),
      }),
    '/api/integrations/edr/vendor-a': () =>
      trip({
        read: () => found(sent(sdk.readEdrVendorA({ client }))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(sdk.replaceEdrVendorA({ client, body: { ...body, api_token: kept } })),
      }),
    '/api/integrations/edr/vendor-b': () =>
      trip({
        read: () => found(sent(sdk.readEdrVendorB({ client }))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(sdk.replaceEdrVendorB({ client, body: { ...body, secret: kept } })),
      }),
    '/api/integrations/edr/vendor-c': () =>
      trip({
        read: () => found(sent(sdk.readEdrVendorC({ client }))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(sdk.replaceEdrVendorC({ client, body: { ...body, api_token: kept } })),
      }),
    '/api/integrations/edr/vendor-d': () =>
      trip({
        read: () => found(sent(sdk.readEdrVendorD({ client }))),
        change: (vendor) => ({ ...vendor, enabled: !vendor.enabled }),
        write: (body) => sent(sdk.replaceEdrVendorD({ client, body: { ...body, client_id: kept, secret: kept } })),
      }),
    '/api/integrations/event-streaming/{id}': (id: string) =>
      trip({
        read: () => sent(sdk.readEventStreamingAlias({ client, path: { id: Number(id) } })),
        change: (stream) => ({ ...stream, enabled: !stream.enabled }),
        write: (body) => sent(sdk.replaceEventStreamingAlias({ client, path: { id: body.id }, body })),
      }),
    '/api/integrations/msp/tenants/{id}': (id: string) =>
      trip({
        read: () => one(sent(sdk.listMspTenants({ client })), id),
        change: (tenant) => ({ ...tenant, name: mark }),
        write: (body) => sent(sdk.replaceMspTenant({ client, path: { id }, body })),
      }),
    '/api/integrations/notifications/channels/{channelId}': (channelId: string) =>
      trip({
        read: () => sent(sdk.readNotificationChannel({ client, path: { channelId } })),
        change: (channel) => ({ ...channel, enabled: !channel.enabled }),
        write: (body) => sent(sdk.replaceNotificationChannel({ client, path: { channelId }, body })),
      }),
    '/api/integrations/scim-idp/{id}': (id: string) =>
      trip({
        read: () => sent(sdk.readScimIntegration({ client, path: { id: Number(id) } })),
        change: (integration) => ({ ...integration, group_prefixes: [mark] }),
        write: (body) => sent(sdk.replaceScimIntegration({ client, path: { id: body.id }, body })),
      }),
    '/api/networks/{networkId}': (networkId: string) =>
      trip({
        read: () => sent(sdk.readNetwork({ client, path: { networkId } })),
        change: (network) => ({ ...network, name: mark }),
        write: (body) => sent(sdk.replaceNetwork({ client, path: { networkId }, body })),
      }),
    '/api/networks/{networkId}/resources/{resourceId}': (networkId: string, resourceId: string) =>
      trip({
        read: () => sent(sdk.readNetworkResource({ client, path: { networkId, resourceId } })),
        change: (resource) => ({ ...resource, name: mark }),
        write: (body) => sent(sdk.replaceNetworkResource({ client, path: { networkId, resourceId }, body })),
      }),
    '/api/networks/{networkId}/routers/{routerId}': (networkId: string, routerId: string) =>
      trip({
        read: () => sent(sdk.readNetworkRouter({ client, path: { networkId, routerId } })),
        change: (router) => ({ ...router, metric: router.metric + 1 }),
        write: (body) => sent(sdk.replaceNetworkRouter({ client, path: { networkId, routerId }, body })),
      }),
    '/api/peers/{peerId}': (peerId: string) =>
      trip({
        read: () => sent(sdk.readPeer({ client, path: { peerId } })),
        change: (peer) => ({ ...peer, ssh_enabled: !peer.ssh_enabled }),
        write: (body) => sent(sdk.replacePeer({ client, path: { peerId }, body })),
      }),
    '/api/peers/{peerId}/ingress/ports/{allocationId}': (peerId: string, allocationId: string) =>
      trip({
        read: () => sent(sdk.readIngressPort({ client, path: { peerId, allocationId } })),
        change: (port) => ({ ...port, name: mark }),
        write: (body) => sent(sdk.replaceIngressPort({ client, path: { peerId, allocationId }, body })),
      }),
    '/api/policies/{policyId}': (policyId: string) =>
      trip({
        read: () => sent(sdk.readPolicy({ client, path: { policyId } })),
        change: (policy) => ({ ...policy, rules: policy.rules.map((rule) => ({ ...rule, enabled: !rule.enabled })) }),
        write: (body) => sent(sdk.replacePolicy({ client, path: { policyId }, body })),
      }),
    '/api/posture-checks/{postureCheckId}': (postureCheckId: string) =>
      trip({
        read: () => sent(sdk.readPostureCheck({ client, path: { postureCheckId } })),
        change: (check) => ({ ...check, description: mark }),
        write: (body) => sent(sdk.replacePostureCheck({ client, path: { postureCheckId }, body })),
      }),
    '/api/reverse-proxies/services/{serviceId}': (serviceId: string) =>
      trip({
        read: () => sent(sdk.readProxyService({ client, path: { serviceId } })),
        change: (service) => ({ ...service, pass_host_header: !service.pass_host_header }),
        write: (body) => sent(sdk.replaceProxyService({ client, path: { serviceId }, body })),
      }),
    '/api/routes/{routeId}': (routeId: string) =>
      trip({
        read: () => sent(sdk.readRoute({ client, path: { routeId } })),
        change: (route) => ({ ...route, metric: route.metric + 1 }),
        write: (body) => sent(sdk.replaceRoute({ client, path: { routeId }, body })),
      }),
    '/api/setup-keys/{keyId}': (keyId: string) =>
      trip({
        read: () => one(sent(sdk.listSetupKeys({ client })), keyId),
        change: (key) => ({ ...key, revoked: !key.revoked }),
        write: (body) => sent(sdk.replaceSetupKey({ client, path: { keyId: body.id }, body })),
      }),
    '/api/users/{userId}': (userId: string) =>
      trip({
        read: () => one(sent(sdk.listUsers({ client })), userId),
        change: (user) => ({ ...user, is_blocked: !user.is_blocked }),
        write: (body) => sent(sdk.replaceUser({ client, path: { userId }, body })),
      }),
  };
}
