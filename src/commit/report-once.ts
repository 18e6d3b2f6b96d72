/** Receives messages for the log. */
export type Report<Level extends string> = (level: Level, message: string) => void;

/** Time for which the same message is not reported again, in milliseconds. */
const quietMs = 3_600_000;

/** Maximum number of messages in memory. */
const maxRemembered = 10_000;

/** Reports each message at most once an hour: failed work is retried all the time, and refused callers try again. */
export function reportOnce<Level extends string>(report: Report<Level>): Report<Level> {
  // Ordered by time, the oldest first.
  const reported = new Map<string, number>();
  return (level, message) => {
    const now = performance.now();
    for (const [before, at] of reported) {
      if (at >= now - quietMs) break;
      reported.delete(before);
    }
    if (reported.has(message)) return;
    const [oldest] = reported.keys();
    if (oldest !== undefined && reported.size >= maxRemembered) reported.delete(oldest);
    reported.set(message, now);
    report(level, message);
  };
}
