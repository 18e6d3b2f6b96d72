import { readProxyLog, showProxyRecord } from '../../features/logs/proxy-log.ts';
import { proxyEvents as operations } from '../../operations/proxy-events.ts';
import { sendLong } from '../answers/answers.ts';
import { rangeOf, withoutUndefined, wrapLogPage } from '../answers/log-pages.ts';
import { implement } from '../operations/implement.ts';

/** Log of the requests that passed through reverse proxies. */
export const proxyEvents = implement(operations, (engine) => ({
  async list({ call, query, request, reply }) {
    const { sort_by: sort, sort_order: order, user_id, user_email, user_name, start_date, end_date, ...asked } = query;
    const { records, total, sortedFrom } = await readProxyLog(engine, call, {
      ...asked,
      ...{ sort, order, user: withoutUndefined({ id: user_id, email: user_email, name: user_name }) },
      ...rangeOf({ start_date, end_date }),
    });
    const body = {
      ...wrapLogPage(records.map(showProxyRecord), { ...asked, total }),
      ...(sortedFrom === undefined ? {} : { sorted_from: sortedFrom.toISOString() }),
    };
    return sendLong(request, reply, { version: 0, body });
  },
}));
