import { createNoticeBoard, type NoticeBoard } from '../commit/notices.ts';
import { openNotices } from '../db/notices.ts';

/** A notice board that reaches the other servers of a Postgres; an embedded database has one server. */
export function connectNotices(url: string | undefined): { notices: NoticeBoard; close(): Promise<void> } {
  if (url === undefined) return { notices: createNoticeBoard(), close: async () => {} };
  const board = createNoticeBoard((key, message) => connection.notify(key, message));
  const connection = openNotices({ url, heard: (message) => board.receive(message), missed: () => board.missed() });
  return { notices: board, close: () => connection.close() };
}
