/** Receives messages for the log. */
export type Report<Level extends string> = (level: Level, message: string) => void;

/** For how long the same message is not reported again. */
const quietMs = 3_600_000;

/** So many messages are remembered. */
const mostRemembered = 10_000;

/** Reports each message once an hour: what fails is tried again all the time, and callers that are refused ask again. */
export function reportOnce<Level extends string>(report: Report<Level>): Report<Level> {
  // The oldest stand first.
  const reported = new Map<string, number>();
  return (level, message) => {
    const now = performance.now();
    for (const [before, at] of reported) {
      if (at >= now - quietMs) break;
      reported.delete(before);
    }
    if (reported.has(message)) return;
    const [oldest] = reported.keys();
    if (oldest !== undefined && reported.size >= mostRemembered) reported.delete(oldest);
    reported.set(message, now);
    report(level, message);
  };
}
