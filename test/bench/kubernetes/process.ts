import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { asObjectOrEmpty, type Json, parseJson } from '../../../src/lib/json.ts';
import type { ServedHeddle } from '../../setup/heddle.ts';

/** Returns the CPU time of all threads of a process so far, in milliseconds. */
export async function cpuOf({ pid }: ServedHeddle): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The program name, in parentheses, may contain spaces. The fields after it start with the third.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields[11], fields[12]];
  // The values are in hundredths of a second, whatever tick rate the kernel uses internally.
  return (Number(user) + Number(system)) * 10;
}

/** Environment with which a server accepts an inspector. */
export const inspected = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/**
 * Returns the heap of an inspected server's main thread after a garbage collection, and the resident memory of the
 * process, in MB.
 */
export async function memoryOf(server: ServedHeddle): Promise<{ readonly heap: number; readonly resident: number }> {
  const [, url = ''] = /(ws:\S+)/.exec(await server.line(/Debugger listening on ws:/)) ?? [];
  const socket = new WebSocket(url);
  await once(socket, 'open');
  await ask(socket, 1, 'HeapProfiler.collectGarbage');
  const expression = 'JSON.stringify(process.memoryUsage())';
  const { result } = asObjectOrEmpty(await ask(socket, 2, 'Runtime.evaluate', { expression }));
  socket.close();
  const { heapUsed, rss } = asObjectOrEmpty(parseJson(String(asObjectOrEmpty(result)['value'])));
  return { heap: Number(heapUsed) / 1e6, resident: Number(rss) / 1e6 };
}

async function ask(socket: WebSocket, id: number, method: string, params: object = {}): Promise<Json> {
  socket.send(JSON.stringify({ id, method, params }));
  while (true) {
    const [{ data }] = await once(socket, 'message');
    const answer = asObjectOrEmpty(parseJson(String(data)));
    if (answer['id'] === id) return answer['result'] ?? {};
  }
}
