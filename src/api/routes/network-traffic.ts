import { readTraffic, showTraffic } from '../../features/logs/traffic-log.ts';
import { NotFound } from '../../model/errors.ts';
import { networkTraffic as operations } from '../../operations/network-traffic.ts';
import { sendLong } from '../answers/answers.ts';
import { rangeOf, wrapLogPage } from '../answers/log-pages.ts';
import { implement } from '../operations/implement.ts';

/** Traffic that peers reported. It exists in the hosted edition only. */
export const networkTraffic = implement(operations, (engine) => ({
  async list({ call, query, request, reply }) {
    if (engine.planEnvironment.edition !== 'hosted')
      throw new NotFound(
        'network traffic not found: it exists in the hosted edition only, and this server runs the self-hosted one',
      );
    const { start_date, end_date, ...asked } = query;
    const { records, total } = await readTraffic(engine, call, { ...asked, ...rangeOf({ start_date, end_date }) });
    return sendLong(request, reply, { version: 0, body: wrapLogPage(records.map(showTraffic), { ...asked, total }) });
  },
}));
