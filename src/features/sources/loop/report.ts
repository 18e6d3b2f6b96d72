import type { Problem } from '../../../model/problem.ts';

/** A message about a source for the log of the server. */
export interface SourceReport {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly problems?: readonly Problem[];
}

/** Receives messages about sources. */
export type Reporter = (report: SourceReport) => void;

/** Returns a reporter that writes to a log: one line for the message, then one line for each problem. */
export function reporter(
  log: (line: { readonly level: SourceReport['level']; readonly message: string }) => void,
): Reporter {
  return ({ level, message, problems = [] }) => {
    log({ level, message });
    for (const { file, line = 1, column = 1, message: fault, code } of problems) {
      const position = file === undefined ? '' : `${file}:${line}:${column}: `;
      log({ level, message: `${position}${fault} (${code})` });
    }
  };
}
