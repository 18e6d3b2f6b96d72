import type { Engine } from '../commit/engine.ts';
import { listSources } from '../db/sources/sources.ts';
import type { Problem } from '../model/problem.ts';

/** Adds the commit to the position of the document that manages a value, when the source has commits. */
export async function withCommits(
  engine: Engine,
  account: string,
  problems: readonly Problem[],
): Promise<readonly Problem[]> {
  if (!problems.some(({ code }) => code === 'managed_field')) return problems;
  const sources = await listSources(engine.database, account);
  const commits = new Map(sources.map(({ id, status }) => [id, status['lastAppliedCommit']]));
  return problems.map((problem) => {
    const { source = '', file, line, message } = problem;
    const commit = commits.get(source);
    if (problem.code !== 'managed_field' || typeof commit !== 'string') return problem;
    const position = `(${file}:${line})`;
    return { ...problem, message: message.replace(position, `(${file}:${line} at commit ${commit.slice(0, 12)})`) };
  });
}
