/**
 * Resolves when `work` has settled, or when the time is over. Never rejects. Data that arrived while the process stood
 * still are handled before the time counts as over.
 */
export function waitUntilSettled(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), milliseconds);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(end, end);
  });
}
