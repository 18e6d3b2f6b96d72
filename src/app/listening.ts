import { createServer } from 'node:net';
import { codeOf } from '../lib/error-code.ts';
import { Unavailable } from '../model/errors.ts';

/** Address to listen on. Port 0 means any free port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Listens on the address for a moment, so that a start that cannot succeed fails before it creates anything. Throws
 * `Unavailable`; its message names the setting that changes the address.
 */
export async function requireListenable(address: Address, setting: string): Promise<void> {
  const probe = createServer();
  await listenOrExplain(address, setting, async () => {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen({ ...address, exclusive: true }, resolve);
    });
    await new Promise((resolve) => probe.close(resolve));
  });
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program; stop that program or choose another address with',
  EADDRNOTAVAIL: 'is not an address of this machine; choose another one with',
  ENOTFOUND: 'is not an address of this machine; choose another one with',
  EAI_AGAIN: 'is not an address of this machine; choose another one with',
  EACCES: 'may not be used by this user; choose a port above 1023 with',
};

/**
 * Runs `listen`. When the operating system refuses the address, throws `Unavailable` with the reason and the setting
 * that changes the address.
 */
export async function listenOrExplain<Value>(
  { host, port }: Address,
  setting: string,
  listen: () => Promise<Value>,
): Promise<Value> {
  try {
    return await listen();
  } catch (cause) {
    const reason = reasons[codeOf(cause) ?? ''];
    if (reason === undefined) throw cause;
    throw new Unavailable(`${host}:${port} ${reason} ${setting}.`, { cause });
  }
}
