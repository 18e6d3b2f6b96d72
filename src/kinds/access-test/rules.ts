import type { Fault } from '../../model/declare/kind.ts';
import { exactlyOne } from '../shared/exclusive.ts';

interface Question {
  readonly from: string | undefined;
  readonly fromResource: unknown;
  readonly to: string | undefined;
  readonly toResource: unknown;
  readonly protocol: string;
  readonly port: string | undefined;
}

const withoutPorts = ['all', 'icmp'];

/** What a test must not contradict. */
export function checkQuestion(spec: Question): readonly Fault[] {
  const { from, fromResource, to, toResource, protocol, port } = spec;
  const isGiven = (value: unknown) => value !== undefined && value !== '';
  return [
    ...exactlyOne('access_test_from_exclusive', {
      first: ['from', isGiven(from)],
      second: ['fromResource', isGiven(fromResource)],
    }),
    ...exactlyOne('access_test_to_exclusive', {
      first: ['to', isGiven(to)],
      second: ['toResource', isGiven(toResource)],
    }),
    ...(isGiven(port) && withoutPorts.includes(protocol)
      ? [
          {
            code: 'access_test_port_unused',
            path: '/port',
            message: `the protocol \`${protocol}\` has no ports; remove \`port\` or choose tcp, udp or ssh`,
          } as const,
        ]
      : []),
  ];
}
