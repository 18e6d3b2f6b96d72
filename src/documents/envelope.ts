import type { JsonObject } from '../lib/json.ts';
import { apiVersion, type Document, ignoredMembers } from '../model/document.ts';
import type { Problem } from '../model/problem.ts';
import { readMetadata } from './metadata.ts';
import { pointerTo } from './position.ts';
import {
  checkMembers,
  createReporter,
  describeValue,
  isJsonObject,
  type ReportProblem,
  type StatedObject,
} from './stated.ts';

const envelopeMembers = ['apiVersion', 'kind', 'metadata', 'spec'] as const;

/**
 * Checks the envelope and returns the document. The model checks whether the kind exists and what its spec may contain.
 */
export function readEnvelope(stated: StatedObject, problems: Problem[]): Document | undefined {
  const { value, file, line, index, pointer } = stated;
  const before = problems.length;
  const report = createReporter(stated, problems);
  if (!isJsonObject(value)) {
    report(
      'document_invalid',
      '',
      `A document is a map with \`apiVersion\`, \`kind\`, \`metadata\` and \`spec\`, and this is ${describeValue(value)}; write a map.`,
    );
    return undefined;
  }
  checkMembers(value, envelopeMembers, '', report, ignoredMembers);
  checkApiVersion(value, report);
  const kind = readKind(value, report);
  const metadata = readMetadata(value, stated, report);
  const spec = readSpec(value, report);
  if (problems.length > before || kind === undefined || metadata === undefined || spec === undefined) return undefined;
  const entryLines = linesOfEntries(spec, stated);
  return {
    ...{ kind, metadata, spec, position: { file, line, index, pointer } },
    ...(entryLines === undefined ? {} : { entryLines }),
  };
}

/**
 * Returns the line of each entry, by list. Only lists of maps have lines, because only their entries can be separate
 * objects.
 */
function linesOfEntries(spec: JsonObject, { pointer, locate }: StatedObject): Document['entryLines'] {
  const lists = Object.entries(spec).flatMap(([member, value]) =>
    Array.isArray(value) && value.length > 0 && value.every(isJsonObject) ? [[member, value.length] as const] : [],
  );
  if (lists.length === 0) return undefined;
  return Object.fromEntries(
    lists.map(([member, length]) => {
      const list = pointerTo(`${pointer}/spec`, member);
      return [member, Array.from({ length }, (_, at) => locate(pointerTo(list, at)).line)];
    }),
  );
}

/** Reports every `apiVersion` except the supported one. */
export function checkApiVersion(value: JsonObject, report: ReportProblem): void {
  const stated = value['apiVersion'];
  if (stated === apiVersion) return;
  const found = stated === undefined ? 'is missing' : `is ${describeValue(stated)}`;
  report('api_version_unknown', '/apiVersion', `\`apiVersion\` ${found}; write \`apiVersion: ${apiVersion}\`.`);
}

function readKind(value: JsonObject, report: ReportProblem): string | undefined {
  const kind = value['kind'];
  if (typeof kind === 'string' && kind !== '') return kind;
  const found = kind === undefined ? 'is missing' : `is ${describeValue(kind)}`;
  report('kind_invalid', '/kind', `\`kind\` ${found}; write the name of a kind, such as \`kind: Group\`.`);
  return undefined;
}

function readSpec(value: JsonObject, report: ReportProblem): JsonObject | undefined {
  const spec = value['spec'];
  if (spec === undefined) return {};
  if (isJsonObject(spec)) return spec;
  report(
    'spec_invalid',
    '/spec',
    `\`spec\` must be a map and is ${describeValue(spec)}; write its fields, or leave \`spec\` out.`,
  );
  return undefined;
}
