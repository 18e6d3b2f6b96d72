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
    doc: 'Minimum number of revisions kept in the history (default 200).',
    default: 200,
    parse: ([text = '']) => parseCount(text, 1, 999_999_999),
  },
  historyDays: {
    variable: 'HEDDLE_HISTORY_DAYS',
    placeholder: 'DAYS',
    doc: 'Minimum number of days for which the history is kept (default 90).',
    default: 90,
    parse: ([text = '']) => parseCount(text, 0, 36_500),
  },
  auditDays: {
    variable: 'HEDDLE_AUDIT_DAYS',
    placeholder: 'DAYS',
    doc: 'Minimum number of days for which the audit log is kept (default: all of it is kept).',
    default: undefined,
    parse: ([text = '']) => parseCount(text, 1, 36_500),
  },
  proxyLogDays: {
    variable: 'HEDDLE_PROXY_LOG_DAYS',
    placeholder: 'DAYS',
    doc: 'Minimum number of days for which the log of reverse proxies is kept (default 30).',
    default: 30,
    parse: ([text = '']) => parseCount(text, 1, 3650),
  },
  trafficLogDays: {
    variable: 'HEDDLE_TRAFFIC_LOG_DAYS',
    placeholder: 'DAYS',
    doc: 'Minimum number of days for which the log of traffic is kept (default 30).',
    default: 30,
    parse: ([text = '']) => parseCount(text, 1, 3650),
  },
};
