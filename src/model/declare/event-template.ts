import type { Json } from '../../lib/json.ts';
import { parseJsonTemplate } from '../../lib/json-template.ts';

/** What templates of events may name: an event with awkward characters in its texts. */
const samples = {
  ID: 4711,
  Timestamp: '2026-01-02T03:04:05.678Z',
  Code: 'group.add',
  Message: 'Group "a\\b"\ncreated',
  InitiatorID: 'ch8i4ug6lnn4g9hqv7p0',
  TargetID: 'ch8i4ug6lnn4g9hqv7mg',
  Meta: { name: 'developers' },
} as const satisfies Readonly<Record<string, Json>>;

/** The values of an event, by the names that templates have for them. */
export type EventValues = Readonly<Record<keyof typeof samples, Json>>;

/** Reads a template of what is sent about one event, or says what is wrong with it. */
export function parseEventTemplate(text: string) {
  return parseJsonTemplate<keyof EventValues>(text, samples);
}
