import { asObjectOrEmpty, type Json, type JsonObject } from '../../../../lib/json.ts';
import type { NamespaceRule } from '../../../../model/sources/kubernetes.ts';
import { type ConflictMode, conflictModes, defaultSettings } from '../../../../model/sources/settings.ts';

/** What the resource of a source requests, apart from a reconcile. Members that request nothing are absent. */
export type SourceRequest = {
  readonly suspend?: true;
  readonly conflictMode?: ConflictMode;
};

/** Reads a request from the spec of the resource, or from the recorded spec of the source. */
export function readSourceRequest(spec: Json | undefined): SourceRequest {
  const { suspend, conflictMode: stated } = asObjectOrEmpty(spec);
  const conflictMode = conflictModes.find((mode) => mode === stated);
  return { ...(suspend === true ? { suspend } : {}), ...(conflictMode === undefined ? {} : { conflictMode }) };
}

/**
 * Returns what is recorded of a source whose resource requests something: the request, and the settings that follow
 * from it.
 */
export function requestedSettings(request: SourceRequest, rule: NamespaceRule): JsonObject {
  if (Object.keys(request).length === 0) return {};
  const { conflictMode } = request;
  const isAllowed = conflictMode !== undefined && allowedModes(rule).includes(conflictMode);
  return { requested: request, ...(isAllowed ? { conflictMode } : {}) };
}

/** Returns why a request is not carried out, or `undefined` when it is. */
export function refusalOf({ conflictMode }: SourceRequest, rule: NamespaceRule): string | undefined {
  const allowed = allowedModes(rule);
  if (conflictMode === undefined || allowed.includes(conflictMode)) return undefined;
  const [own, ...others] = allowed;
  const list = others.length === 0 ? `${own} alone` : `${others.join(', ')} and ${own}`;
  return `spec.conflictMode: ${conflictMode} is not allowed in this namespace, and ${own} is in effect: the settings of the server allow ${list}; the operator adds others to conflictModes there`;
}

/** Returns the conflict mode of the rule, and those that it lets namespaces choose. */
function allowedModes({
  conflictMode = defaultSettings.conflictMode,
  conflictModes: more = [],
}: NamespaceRule): readonly ConflictMode[] {
  return [...new Set([conflictMode, ...more])];
}
