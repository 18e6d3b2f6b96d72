import type { SourceStatus } from '../../../model/sources/status.ts';
import type { RecordOptions } from './record.ts';
import type { Conclusion } from './schedule.ts';

/** Reports for metrics how a reconcile ended, and whether the declarations of the source are in place. */
export function measure(
  { engine: { observer }, account, name }: Pick<RecordOptions, 'engine' | 'account' | 'name'>,
  { state, drifted = 0 }: SourceStatus,
  { result }: Conclusion,
  seconds: number,
): void {
  const of = { account, source: name };
  // A server that lost the lease does not know the current state of the source.
  const word = result === 'failed' && state === 'applied' ? result : state;
  if (result !== 'same') observer.report({ what: 'reconcile', ...of, result: word, seconds });
  if (word === 'applied') observer.report({ what: 'in_place', ...of, drift: drifted });
}
