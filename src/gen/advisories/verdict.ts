import { isObject } from '../../lib/json.ts';

/** A published vulnerability of a package that was reviewed and is accepted until a date. */
export interface Waiver {
  /** Last part of the advisory's URL, such as GHSA-35jh-r3h4-6jhm. */
  readonly advisory: string;
  /** Last day of the waiver, such as 2027-01-31. */
  readonly until: string;
  /** Why the vulnerability does no harm here, or what has to happen before it can be fixed. */
  readonly reason: string;
}

/** Result of the check: whether the change may proceed, and one line for each finding. */
export interface Verdict {
  readonly ok: boolean;
  readonly lines: readonly string[];
}

interface Advisory {
  readonly id: string;
  readonly package: string;
  readonly severity: string;
  readonly title: string;
}

/**
 * Judges the output of `npm audit --json`. A registry that does not answer audits is not a failure, but causes
 * prominent warnings. `today` is an ISO 8601 date.
 */
export function judgeAudit(answer: string, waivers: readonly Waiver[], today: string): Verdict {
  const advisories = readAdvisories(answer);
  if (advisories === undefined) {
    const ended = waivers.filter(({ until }) => until < today);
    return {
      ok: true,
      lines: [
        `WARNING: the package registry did not answer an audit, so the dependencies were NOT checked for published vulnerabilities${formatAuditError(answer)}.`,
        'WARNING: before a release, run `npm run advisories` where the registry answers.',
        ...ended.map(
          ({ advisory, until }) =>
            `WARNING: the waiver of ${advisory} ended on ${until}, and fails the check where the registry answers.`,
        ),
      ],
    };
  }
  const lines = advisories.map((advisory) => judgeOne(advisory, waivers, today));
  const used = new Set(advisories.map(({ id }) => id));
  const idle = waivers.filter(({ advisory }) => !used.has(advisory));
  return {
    ok: lines.every(({ ok }) => ok),
    lines: [
      ...lines.map(({ line }) => line),
      ...idle.map(({ advisory }) => `${advisory} is waived but affects no dependency any more; remove its waiver.`),
      ...(lines.length === 0 ? ['No dependency has a published vulnerability.'] : []),
    ],
  };
}

/** Returns npm's message about a failed audit, in brackets. Empty without a message. */
function formatAuditError(answer: string): string {
  const message = parse(answer)?.['message'];
  return typeof message === 'string' ? ` (${message.slice(0, 200)})` : '';
}

/** Parses waivers. Throws at the first one that is malformed. */
export function readWaivers(text: string): readonly Waiver[] {
  const list = parseWaiversJson(text);
  if (!Array.isArray(list)) throw new Error('the waivers must be a list');
  return list.map((waiver, at) => {
    const { advisory, until, reason } = isObject(waiver) ? waiver : {};
    const isDate = typeof until === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(until) && !Number.isNaN(Date.parse(until));
    if (typeof advisory === 'string' && isDate && typeof reason === 'string' && reason !== '')
      return { advisory, until, reason };
    throw new Error(`waiver ${at + 1} needs \`advisory\`, \`until\` (a date such as 2027-01-31) and \`reason\``);
  });
}

function parseWaiversJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`the waivers are not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

function judgeOne(
  advisory: Advisory,
  waivers: readonly Waiver[],
  today: string,
): { readonly ok: boolean; readonly line: string } {
  const { id, title, severity } = advisory;
  const what = `${advisory.package}: ${title} (${severity}, ${id})`;
  const waiver = waivers.find((one) => one.advisory === id);
  if (waiver === undefined) return { ok: false, line: `${what}; use a version without it, or waive it temporarily.` };
  if (waiver.until < today) return { ok: false, line: `${what}; its waiver ended on ${waiver.until}.` };
  return { ok: true, line: `${what}; waived until ${waiver.until}: ${waiver.reason}` };
}

/**
 * Returns the advisories in an audit report, without duplicates. Returns `undefined` when the text is not an audit
 * report.
 */
function readAdvisories(answer: string): readonly Advisory[] | undefined {
  const report = parse(answer);
  if (report?.['auditReportVersion'] !== 2 || !isObject(report['vulnerabilities'])) return undefined;
  const packages: readonly unknown[] = Object.values(report['vulnerabilities']);
  const causes = packages.flatMap((one) => (isObject(one) && Array.isArray(one['via']) ? one['via'] : []));
  // A cause that is a text names another package of the report, which contains the advisory.
  const found = causes.filter((cause) => isObject(cause)).map(advisoryOf);
  return [...new Map(found.map((advisory) => [`${advisory.package} ${advisory.id}`, advisory])).values()];
}

function advisoryOf(cause: Readonly<Record<string, unknown>>): Advisory {
  const { url, source, name, severity, title } = cause;
  return {
    id: typeof url === 'string' ? (url.split('/').at(-1) ?? url) : String(source),
    package: String(name),
    severity: String(severity),
    title: String(title),
  };
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Not JSON, so not an audit report.
    return undefined;
  }
}
