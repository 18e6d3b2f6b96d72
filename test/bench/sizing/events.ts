import { messagesOf } from '../../../src/cli/proxy/edge.ts';
import type { ServedHeddle } from '../../setup/heddle.ts';
import { token } from '../served.ts';

/** Reads the events of an account at one server. */
export interface EventReader {
  /** Resolves with the time at which an event that contains this text arrives, in milliseconds. */
  next(text: string): Promise<number>;
  close(): void;
}

/** Opens the event stream of a server. Earlier events are not read. */
export async function openEvents(server: ServedHeddle): Promise<EventReader> {
  const stop = new AbortController();
  const headers = { authorization: `Token ${token}` };
  const response = await fetch(`${server.url}/api/config/events`, { headers, signal: stop.signal });
  if (!response.ok) throw new Error(`/api/config/events: ${response.status} ${await response.text()}`);
  const waiting = new Map<string, (at: number) => void>();
  const read = async () => {
    for await (const { data } of messagesOf(response)) {
      const [at, text] = [performance.now(), JSON.stringify(data)];
      for (const [expected, resolve] of waiting) {
        if (!text.includes(expected)) continue;
        waiting.delete(expected);
        resolve(at);
      }
    }
  };
  // Reading ends with an error when the stream is closed.
  read().catch(() => undefined);
  return {
    next: (text) => new Promise((resolve) => waiting.set(JSON.stringify(text), resolve)),
    close: () => stop.abort(),
  };
}
