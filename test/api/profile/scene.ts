import type { JsonObject } from '../../../src/lib/json.ts';
import { createAnswerCheck } from '../answer-check.ts';
import { type Call, createCall, sharedApi, type TestApi } from '../setup.ts';

/** A server with both profiles, and a caller for each. Every answer must match the OpenAPI document of its profile. */
export interface ProfileScene {
  api(): TestApi;
  /** Calls with the profile `specification`. */
  readonly ours: Call;
  /** Calls with the profile `compatible`, as existing clients do. */
  readonly theirs: Call;
}

/** Starts one server for all tests of a file. */
export function profileScene(options: Parameters<typeof sharedApi>[0] = {}): ProfileScene {
  const api = sharedApi({ profile: { profile: 'specification', allowsHeader: true }, ...options });
  const theirs: Call = async (method, url, body, headers = {}) => {
    const { app, engine } = api();
    const check = await createAnswerCheck(engine.registry, engine.planEnvironment.edition, 'compatible');
    return createCall(app, check)(method, url, body, { ...headers, 'heddle-profile': 'compatible' });
  };
  return { api, ours: (...request) => api().call(...request), theirs };
}

/** Tests of the rows of the profile table, by the name of the row. */
export type RowTests = Readonly<Record<string, () => Promise<void>>>;

export const setupKey = {
  ...{ name: 'CI', type: 'reusable', expires_in: 86400, auto_groups: [], usage_limit: 0 },
  ...{ ephemeral: false, allow_extra_dns_labels: false },
};

/** Returns a rule for port 22 between the machines of one group. */
export const sshRule = (group: string): JsonObject => ({
  ...{ name: 'admins', enabled: true, action: 'accept', bidirectional: false },
  ...{ sources: [group], destinations: [group], ports: ['22'] },
});
