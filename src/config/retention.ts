import type { Setting } from '../config.ts';
import { parseCount } from './parse.ts';

/** Minimum retention of the history and of the logs. */
export interface RetentionConfig {
  /** Revisions that are kept: at least this many of the newest ones, and all of the last `historyDays` days. */
  readonly historyRevisions: number;
  readonly historyDays: number;
  /** Days for which audit events are kept. Absent: forever. */
  readonly auditDays: number | undefined;
  /** Days for which the log of reverse proxies is kept; below it, days for the traffic log. */
  readonly proxyLogDays: number;
  readonly trafficLogDays: number;
}

/** Declarations of the retention settings. */
export const retentionSettings: { readonly [K in keyof RetentionConfig]: Setting<RetentionConfig[K]> } = {
  historyRevisions: {
    variable: 'HEDDLE_HISTORY_REVISIONS',
    placeholder: 'N',
    doc: 'How many revisions of the history are kept at the least (default 200).',
    default: 200,
    parse: ([text = '']) => parseCount(text, 1, 999_999_999),
  },
  historyDays: {
    variable: 'HEDDLE_HISTORY_DAYS',
    placeholder: 'DAYS',
    doc: 'How many days of the history are kept at the least (default 90).',
    default: 90,
    parse: ([text = '']) => parseCount(text, 0, 36_500),
  },
  auditDays: {
    variable: 'HEDDLE_AUDIT_DAYS',
    placeholder: 'DAYS',
    doc: 'How many days of the audit log are kept at the least (default: all of it).',
    default: undefined,
    parse: ([text = '']) => parseCount(text, 1, 36_500),
  },
  proxyLogDays: {
    variable: 'HEDDLE_PROXY_LOG_DAYS',
    placeholder: 'DAYS',
    doc: 'How many days of the log of reverse proxies are kept at the least (default 30).',
    default: 30,
    parse: ([text = '']) => parseCount(text, 1, 3650),
  },
  trafficLogDays: {
    variable: 'HEDDLE_TRAFFIC_LOG_DAYS',
    placeholder: 'DAYS',
    doc: 'How many days of the log of traffic are kept at the least (default 30).',
    default: 30,
    parse: ([text = '']) => parseCount(text, 1, 3650),
  },
};
