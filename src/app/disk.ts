import type { LogLine } from '../log.ts';

const full: LogLine = {
  level: 'error',
  message:
    'the disk of the database is full: writes are answered with 503 and /readyz says not ready until there is room, which is tried every 2 s',
};

const hasRoom: LogLine = {
  level: 'info',
  message: 'the disk of the database has room again: this server takes writes',
};

/** Returns the log line for a database whose disk is full, or has room again. */
export function diskLine(isFull: boolean): LogLine {
  return isFull ? full : hasRoom;
}
