import { createNoticeBoard, type NoticeBoard } from '../commit/notices.ts';
import { openNotices } from '../db/notices.ts';

/**
 * Creates the notice board. With the URL of a Postgres, it also reaches the other servers on that database. Without a
 * URL, the database is embedded and has only one server.
 */
export function connectNotices(url: string | undefined): { notices: NoticeBoard; close(): Promise<void> } {
  if (url === undefined) return { notices: createNoticeBoard(), close: async () => {} };
  const board = createNoticeBoard((key, message) => connection.notify(key, message));
  const connection = openNotices({
    url,
    onMessage: (message) => board.receive(message),
    onMissed: () => board.reportMissed(),
  });
  return { notices: board, close: () => connection.close() };
}
