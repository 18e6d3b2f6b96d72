import { protocols } from '../../model/declare/access-words.ts';
import type { Question } from '../explain/explain.ts';
import { parsePorts } from './traffic.ts';

/**
 * Parses the traffic of a question, such as `tcp/443`, `udp/8000-8010`, `icmp`, or `443`, which means TCP. Returns
 * `undefined` for any other text.
 */
export function parseTraffic(text: string): Omit<Question, 'from' | 'to'> | undefined {
  const [, word = 'tcp', numbers] = /^(?:([a-z]+)(?:\/|$))?(.+)?$/.exec(text.trim().toLowerCase()) ?? [];
  const protocol = protocols.find((one) => one === word);
  if (protocol === undefined) return undefined;
  if (numbers === undefined) return text.trim() === '' ? undefined : { protocol };
  const ports = protocol === 'all' || protocol === 'icmp' ? undefined : parsePorts(numbers);
  return ports === undefined ? undefined : { protocol, ports };
}
