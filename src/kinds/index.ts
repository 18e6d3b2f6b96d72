export { account } from './account/kind.ts';
export { dnsRecord } from './dns-record/kind.ts';
export { dnsZone } from './dns-zone/kind.ts';
export { group } from './group/kind.ts';
export { peer } from './peer/kind.ts';
export { policy } from './policy/kind.ts';
export { route } from './route/kind.ts';
export { user } from './user/kind.ts';
