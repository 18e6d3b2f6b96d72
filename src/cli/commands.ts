import type { Command } from './command.ts';
import type { StartServer } from './server/serve.ts';

/**
 * Modules of the commands by name (the words after `heddle`), in the order of the help text. Only the modules of the
 * called command are loaded, because loading all of them takes 0.8 s of CPU in a checkout. What lists all commands at
 * run time reads the generated `command-list.ts` instead.
 */
const commandLoaders: Readonly<Record<string, (startServer: StartServer) => Promise<Command>>> = {
  serve: async (start) => (await import('./server/serve.ts')).serveCommand(start),
  init: async () => (await import('./account/init.ts')).init,
  fmt: async () => (await import('./offline/fmt.ts')).fmt,
  validate: async () => (await import('./offline/validate.ts')).validate,
  test: async () => (await import('./offline/test.ts')).test,
  plan: async () => (await import('./plan/plan.ts')).plan,
  apply: async () => (await import('./plan/apply.ts')).apply,
  approve: async () => (await import('./plan/approve.ts')).approve,
  plans: async () => (await import('./plan/plans.ts')).plans,
  outputs: async () => (await import('./plan/outputs.ts')).outputs,
  export: async () => (await import('./account/export.ts')).exportDocuments,
  import: async () => (await import('./account/import.ts')).importObject,
  drift: async () => (await import('./account/drift.ts')).drift,
  'override list': async () => (await import('./override/list.ts')).overrideList,
  'override end': async () => (await import('./override/end.ts')).overrideEnd,
  override: async () => (await import('./override/set.ts')).override,
  history: async () => (await import('./account/history.ts')).history,
  rollback: async () => (await import('./plan/rollback.ts')).rollback,
  backup: async () => (await import('./server/backup.ts')).backup,
  restore: async () => (await import('./server/restore.ts')).restore,
  'operator backup': async () => (await import('./operator/backup.ts')).operatorBackup,
  'operator restore': async () => (await import('./operator/restore.ts')).operatorRestore,
  status: async () => (await import('./account/status.ts')).status,
  sources: async () => (await import('./sources/sources.ts')).sources,
  reconcile: async () => (await import('./sources/reconcile.ts')).reconcile,
  suspend: async () => (await import('./sources/source-verbs.ts')).suspend,
  resume: async () => (await import('./sources/source-verbs.ts')).resume,
  detach: async () => (await import('./sources/source-verbs.ts')).detach,
  'deliveries resume': async () => (await import('./deliveries/deliveries.ts')).deliveriesResume,
  'deliveries retry': async () => (await import('./deliveries/deliveries.ts')).deliveriesRetry,
  'deliveries discard': async () => (await import('./deliveries/deliveries.ts')).deliveriesDiscard,
  'deliveries test': async () => (await import('./deliveries/deliveries.ts')).deliveriesTest,
  deliveries: async () => (await import('./deliveries/deliveries.ts')).deliveries,
  'endpoint-security sync': async () => (await import('./endpoint-security/endpoint-security.ts')).endpointSecuritySync,
  'endpoint-security approve': async () =>
    (await import('./endpoint-security/endpoint-security.ts')).endpointSecurityApprove,
  'endpoint-security': async () => (await import('./endpoint-security/endpoint-security.ts')).endpointSecurity,
  login: async () => (await import('./login/login.ts')).login,
  logout: async () => (await import('./login/login.ts')).logout,
  health: async () => (await import('./server/health.ts')).health,
  explain: async () => (await import('./account/explain.ts')).explainField,
  'explain-access': async () => (await import('./account/explain-access.ts')).explainAccess,
  schema: async () => (await import('./account/schema.ts')).schema,
  'token new': async () => (await import('./server/token.ts')).token,
  'secrets key': async () => (await import('./server/secrets.ts')).secretsKey,
  'secrets rotate': async () => (await import('./server/secrets.ts')).secretsRotate,
  'idp rotate-keys': async () => (await import('./server/idp.ts')).idpRotateKeys,
  'proxy token create': async () => (await import('./proxy/token.ts')).proxyTokenCreate,
  'proxy token list': async () => (await import('./proxy/token.ts')).proxyTokenList,
  'proxy token revoke': async () => (await import('./proxy/token.ts')).proxyTokenRevoke,
  'proxy simulate': async () => (await import('./proxy/simulate.ts')).proxySimulate,
  'agent simulate': async () => (await import('./agent/simulate.ts')).agentSimulate,
  completion: async () => (await import('./completion.ts')).completion,
  version: async () => (await import('./version.ts')).version,
};

/** Names of all commands, in the order of the help text. A name may consist of several words. */
export const commandNames: readonly string[] = Object.keys(commandLoaders);

/** Loads the command with this name. Throws when there is none. */
export async function loadCommand(name: string, startServer: StartServer): Promise<Command> {
  const load = commandLoaders[name];
  if (load === undefined) throw new Error(`there is no command ${name}`);
  return load(startServer);
}

/** Loads every command, in the order of the help text: for generators and tests. */
export function allCommands(startServer: StartServer): Promise<readonly Command[]> {
  return Promise.all(Object.values(commandLoaders).map((load) => load(startServer)));
}
