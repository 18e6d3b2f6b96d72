import * as createSchema from './0001-0009/0001_create_schema.ts';
import * as addSyncLogs from './0001-0009/0002_add_sync_logs.ts';
import * as addOwnership from './0001-0009/0003_add_ownership.ts';
import * as addPlanOutputs from './0001-0009/0004_add_plan_outputs.ts';
import * as addHistoryBase from './0001-0009/0005_add_history_base.ts';
import * as addLeases from './0001-0009/0006_add_leases.ts';
import * as addEventIndex from './0001-0009/0007_add_event_index.ts';
import * as bindPlans from './0001-0009/0008_bind_plans.ts';
import * as addTokenScope from './0001-0009/0009_add_token_scope.ts';
import * as addCredentials from './0010-0019/0010_add_credentials.ts';
import * as addIdpRecords from './0010-0019/0011_add_idp_records.ts';
import * as addIdentities from './0010-0019/0012_add_identities.ts';
import * as addPeering from './0010-0019/0013_add_peering.ts';
import * as addFeeds from './0010-0019/0014_add_feeds.ts';
import * as addFeedTerms from './0010-0019/0016_add_feed_terms.ts';
import * as addRecoveryCodes from './0010-0019/0019_add_recovery_codes.ts';
import * as addProxies from './0020-0029/0024_add_proxies.ts';
import * as addOperator from './0020-0029/0025_add_operator.ts';
import * as noteGitHosts from './0020-0029/0026_note_git_hosts.ts';
import * as addClaims from './0020-0029/0027_add_claims.ts';
import * as addSortKeys from './0020-0029/0028_add_sort_keys.ts';
import * as bindCredentials from './0020-0029/0029_bind_credentials.ts';
import * as addSealing from './0030-0039/0030_add_sealing.ts';
import * as addProvedAddresses from './0030-0039/0031_add_proved_addresses.ts';
import * as notePlanUse from './0030-0039/0032_note_plan_use.ts';
import * as addSourceIndex from './0030-0039/0033_add_source_index.ts';
import * as addDeliveries from './0030-0039/0034_add_deliveries.ts';
import * as addProvisioning from './0030-0039/0035_add_provisioning.ts';
import * as addBatches from './0030-0039/0036_add_batches.ts';
import * as noteAbsence from './0030-0039/0037_note_absence.ts';
import * as addDirectorySync from './0030-0039/0038_add_directory_sync.ts';
import * as addEndpointSecurity from './0030-0039/0039_add_endpoint_security.ts';
import * as numberRecords from './0040-0049/0040_number_records.ts';
import * as noteCredentialEnds from './0040-0049/0041_note_credential_ends.ts';
import * as noteRequests from './0040-0049/0042_note_requests.ts';
import * as addProxyDomains from './0040-0049/0043_add_proxy_domains.ts';
import * as addTurns from './0040-0049/0044_add_turns.ts';
import * as addAuditBase from './0040-0049/0045_add_audit_base.ts';

/** One step of the schema, forward only. */
export interface Migration {
  readonly name: string;
  /** The lowest schema number of a program that may still run against the result. */
  readonly oldestProgram: number;
  readonly statements: readonly string[];
}

/** Every migration in order; a program's schema number is how many it knows. */
export const migrations: readonly Migration[] = [
  createSchema,
  addSyncLogs,
  addOwnership,
  addPlanOutputs,
  addHistoryBase,
  addLeases,
  addEventIndex,
  bindPlans,
  addTokenScope,
  addCredentials,
  addIdpRecords,
  addIdentities,
  addPeering,
  addFeeds,
  addFeedTerms,
  addRecoveryCodes,
  addProxies,
  addOperator,
  noteGitHosts,
  addClaims,
  addSortKeys,
  bindCredentials,
  addSealing,
  addProvedAddresses,
  notePlanUse,
  addSourceIndex,
  addDeliveries,
  addProvisioning,
  addBatches,
  noteAbsence,
  addDirectorySync,
  addEndpointSecurity,
  numberRecords,
  noteCredentialEnds,
  noteRequests,
  addProxyDomains,
  addTurns,
  addAuditBase,
];
