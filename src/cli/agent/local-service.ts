import { setTimeout as wait } from 'node:timers/promises';
import { printable } from '../../lib/text/printable.ts';
import { type ServiceMode, serviceModes } from '../../model/declare/service-words.ts';
import { HeddleError, InvalidInput, NotFound } from '../../model/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Machine } from './machine.ts';

/** A port on a machine, and the protocol that is served there. */
export interface LocalService {
  readonly port: number;
  readonly mode: ServiceMode;
}

/** A local service that is reachable through a reverse proxy. */
export interface ExposedService {
  readonly id: string;
  /** Host name at the proxy, with the port if the service has one of its own. */
  readonly address: string;
  /** Time at which the exposure ends unless it is renewed, in milliseconds since 1970. */
  readonly until: number;
}

const retryMs = 500;

/** Parses `PORT[/PROTOCOL]`; the default protocol is http. Throws `InvalidInput`. */
export function readLocalService(text: string): LocalService {
  const [, digits = '', word = 'http'] = /^(\d{1,5})(?:\/([a-z]+))?$/.exec(text) ?? [];
  const [port, mode] = [Number(digits), serviceModes.find((one) => one === word)];
  if (digits === '' || port < 1 || port > 65_535 || mode === undefined)
    throw new InvalidInput(
      `--expose cannot be ${printable(text)}; write a port, optionally with one of ${serviceModes.join(', ')}, such as 8080 or 5432/tcp.`,
    );
  return { port, mode };
}

/**
 * Keeps a local service exposed until the signal aborts, then withdraws it. Refusals are printed and the request is
 * tried again.
 */
export async function keepExposed(
  machine: Machine,
  service: LocalService,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const print = (text: string): void => terminal.out(`${machine.name}: ${text}\n`);
  const what = `${service.port}/${service.mode}`;
  let exposed: ExposedService | undefined;
  let fault = { message: '', times: 0 };
  while (!signal.aborted) {
    let pause = retryMs;
    try {
      const before: ExposedService | undefined = exposed;
      exposed = before === undefined ? await machine.expose(service) : await machine.renew(before.id);
      pause = Math.max(retryMs, (exposed.until - Date.now()) / 2);
      fault = { message: '', times: 0 };
      if (before === undefined) print(`${what} is reachable at ${exposed.address}`);
    } catch (error) {
      if (!(error instanceof HeddleError) || error instanceof InvalidInput) throw error;
      if (error instanceof NotFound) exposed = undefined;
      const { message } = error;
      fault = { message, times: message === fault.message ? fault.times + 1 : 1 };
      // A first refusal is not printed: the server may not have noticed yet that the machine is connected.
      if (fault.times === 2) print(`${what} is not exposed: ${printable(message)}; trying again`);
    }
    // An abort ends the wait.
    await wait(pause, undefined, { signal }).catch(() => undefined);
  }
  if (exposed !== undefined) await withdraw(machine, exposed);
}

/** Withdraws a service. Refusals are ignored, because an exposure that is not renewed ends. */
async function withdraw(machine: Machine, { id }: ExposedService): Promise<void> {
  try {
    await machine.withdraw(id);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
  }
}
