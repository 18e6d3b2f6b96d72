import type { Setting } from '../config.ts';
import type { Transport } from '../model/remote-url.ts';
import { parseCount, parseTransports } from './parse.ts';

/** Settings for Git sources: allowed transports, the number of sources per account, and the number of git processes. */
export interface GitSettings {
  readonly gitTransports: readonly Transport[];
  readonly gitSources: number;
  readonly gitProcesses: number;
}

/** Declarations of the Git settings. */
export const gitSettings: { readonly [K in keyof GitSettings]: Setting<GitSettings[K]> } = {
  gitTransports: {
    variable: 'HEDDLE_GIT_TRANSPORTS',
    placeholder: 'LIST',
    doc: 'Transports with which Git sources may reach their repositories, a list of https, ssh and file (default https,ssh).',
    multiple: true,
    default: ['https', 'ssh'],
    parse: parseTransports,
  },
  gitSources: {
    variable: 'HEDDLE_GIT_SOURCES',
    placeholder: 'COUNT',
    doc: 'Maximum number of Git sources that each account may create over the API (default 20).',
    default: 20,
    parse: ([text = '']) => parseCount(text, 0, 100_000),
  },
  gitProcesses: {
    variable: 'HEDDLE_GIT_PROCESSES',
    placeholder: 'COUNT',
    doc: 'Maximum number of git processes that a server runs at once; accounts take turns (default 8).',
    default: 8,
    parse: ([text = '']) => parseCount(text, 2, 1000),
  },
};
