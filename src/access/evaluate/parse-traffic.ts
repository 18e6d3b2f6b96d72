import { protocols } from '../../model/declare/access-words.ts';
import type { Question } from '../explain/explain.ts';
import { parsePorts } from './traffic.ts';

/**
 * Reads the traffic of a question, such as `tcp/443`, `udp/8000-8010`, `icmp`, or `443`, which is one of TCP; `undefined`
 * when the text says something else.
 */
export function parseTraffic(text: string): Omit<Question, 'from' | 'to'> | undefined {
  const [, word = 'tcp', numbers] = /^(?:([a-z]+)(?:\/|$))?(.+)?$/.exec(text.trim().toLowerCase()) ?? [];
  const protocol = protocols.find((one) => one === word);
  if (protocol === undefined) return undefined;
  if (numbers === undefined) return text.trim() === '' ? undefined : { protocol };
  const ports = protocol === 'all' || protocol === 'icmp' ? undefined : parsePorts(numbers);
  return ports === undefined ? undefined : { protocol, ports };
}
