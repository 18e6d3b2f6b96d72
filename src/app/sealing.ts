import { createUnready } from '../api/unready.ts';
import type { Engine } from '../commit/engine.ts';
import { recheckKey } from '../db/sealing/sealing.ts';
import type { WrongKey } from '../db/sealing/wrong-key.ts';
import type { Log } from '../log.ts';
import { Unavailable } from '../model/errors.ts';

/**
 * Adopts the form in which secrets are sealed when another server changes it. Returns a function that stops watching
 * for changes.
 */
export function watchSealing(
  { notices, database, planEnvironment }: Engine,
  report: (error: unknown, operation: string) => void,
): () => Promise<void> {
  const look = (): void =>
    void recheckKey(database, planEnvironment.vault).catch((error: unknown) => {
      // An unreachable database and a wrong key (`WrongKey` is an `Unavailable`) are not reported here: the readiness
      // endpoint repeats this check and answers with the reason.
      if (!(error instanceof Unavailable)) report(error, 'checking the key and the form of sealed secrets');
    });
  const ends = [
    notices.on(({ what }) => {
      if (what === 'sealing') look();
    }),
    notices.onMissed(look),
  ];
  return async () => {
    for (const end of ends) end();
  };
}

/**
 * Listens instead of a server that does not have the key of the installation. Answers every request with the reason why
 * the server is not ready.
 */
export async function listenUnready(
  listen: { readonly host: string; readonly port: number },
  error: WrongKey,
  log: Log,
): Promise<{ readonly url: string; readonly ready: false; stop(): Promise<void> }> {
  log({ level: 'error', message: `not ready: ${error.message}` });
  const app = createUnready(error.message);
  return { url: await app.listen({ ...listen }), ready: false, stop: () => app.close() };
}
