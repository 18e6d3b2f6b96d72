import type { LogLine } from '../log.ts';

const diskFullLine: LogLine = {
  level: 'error',
  message:
    'the disk of the database is full: the server answers writes with 503, and /readyz reports not ready, until there is space; this is checked every 2 s',
};

const diskSpaceLine: LogLine = {
  level: 'info',
  message: 'the disk of the database has space again: this server accepts writes',
};

/** Returns the log line for a database whose disk is full, or has room again. */
export function diskLine(isFull: boolean): LogLine {
  return isFull ? diskFullLine : diskSpaceLine;
}
