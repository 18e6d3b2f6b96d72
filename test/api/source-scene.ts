import { onTestFinished } from 'vitest';
import { createReader } from '../../src/documents/reader.ts';
import { createGitSlots } from '../../src/features/sources/git/git-slots.ts';
import {
  type ConfiguredSources,
  installSources,
  type SourceInstallation,
} from '../../src/features/sources/installation.ts';
import { superviseSources } from '../../src/features/sources/loop/supervisor.ts';
import { createValuePolicy, type ValueGrant } from '../../src/model/schema/value-policy.ts';
import type { StatedSource } from '../../src/model/sources/stated.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { plainOutbound } from '../setup/outbound.ts';
import { makeUpstream, type Upstream } from '../sources/git-host.ts';
import { groups } from '../sources/office-source.ts';
import { type TestApi, type TestApiOptions, testApi } from './setup.ts';

/** Options in which the server differs from the default. */
type RunningOptions = Partial<ConfiguredSources> & {
  readonly api?: TestApiOptions;
  /** Grants of the operator's settings. */
  readonly grants?: readonly ValueGrant[];
  /** Whether the account is the operator's account. */
  readonly isOperators?: boolean;
  /** Value of `HEDDLE_SHARE_VALUES`. */
  readonly shareValues?: boolean;
};

/** A server that runs sources. */
export interface Running {
  readonly api: TestApi;
  readonly upstream: Upstream;
  readonly valuesDir: string;
}

/** Starts a server that runs the sources of its configuration and the sources that are created over the API. */
export async function running(
  stated: readonly StatedSource[] = [],
  { grants = [], isOperators = true, shareValues = false, api: apiOptions = {}, ...more }: RunningOptions = {},
): Promise<Running> {
  const [dataDir, valuesDir] = [await temporaryDirectory(), await temporaryDirectory()];
  const upstream = await makeUpstream({ 'groups.yaml': groups('first') });
  const environment = { PATH: process.env['PATH'] ?? '' };
  let operator: string | undefined;
  const policy = createValuePolicy({ grants, shareValues, operatorAccount: () => operator });
  const configured: ConfiguredSources = {
    policy,
    ...{
      named: [],
      stated,
      dataDir,
      valuesDir,
      transports: ['file'],
      environment,
      outbound: plainOutbound,
      formerHosts: () => new Set<string>(),
      slots: createGitSlots(8),
      maxGitSources: 20,
      ...more,
    },
  };
  let installation: SourceInstallation | undefined;
  const api = await testApi('postgres', {
    ...apiOptions,
    mayUse: policy.mayUse,
    sources: (engine, account) => {
      operator = isOperators ? account : 'another';
      installation = installSources(engine, account, configured);
      return installation.rules;
    },
  });
  const reader = createReader();
  const { definitions = [], define = () => undefined } = installation ?? {};
  const { engine } = api;
  const ready = { engine, reader, leaseSeconds: 30, version: 'test', pollMs: 20, report: () => {} };
  // A server spreads the start of the sources of its configuration over seconds.
  const atOnce = definitions.map((definition) => ({ ...definition, delayMs: 0 }));
  const stop = superviseSources({ ...ready, definitions: atOnce, define });
  onTestFinished(async () => {
    await stop();
    await reader.close();
    await api[Symbol.asyncDispose]();
  });
  return { api, upstream, valuesDir };
}
