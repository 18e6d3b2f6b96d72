import type { Terminal } from './terminal.ts';

const delayMs = 500;

/**
 * Shows a progress line when `work` takes longer than half a second and a person sees the terminal. The line disappears
 * when the work is done.
 */
export async function withProgress<T>(
  terminal: Pick<Terminal, 'note' | 'watched'>,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  if (!terminal.watched) return work();
  const started = Date.now();
  const show = () => terminal.note(`\r\u001b[K${what}… ${Math.round((Date.now() - started) / 1000)} s`);
  let shown = false;
  const timer = setInterval(() => {
    shown = true;
    show();
  }, delayMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (shown) terminal.note('\r\u001b[K');
  }
}
