/** Settings of the export of spans and metrics, as read from the standard `OTEL_*` variables. */
export interface OtelSettings {
  readonly traces: OtelExport | undefined;
  readonly metrics: OtelExport | undefined;
  readonly sampler: (typeof samplers)[number];
  /** Fraction of traces that is kept, from 0 to 1. Only used by the `traceidratio` samplers. */
  readonly ratio: number;
  /** Time between two exports of metrics, in milliseconds. */
  readonly intervalMs: number;
  /**
   * Batches of spans: time until a batch is sent, in milliseconds, maximum number of queued spans, and maximum number
   * per batch.
   */
  readonly batch: { readonly delayMs: number; readonly queue: number; readonly size: number };
}

/**
 * Endpoint of an export. The exporters read credentials, certificates, timeout and compression from the environment
 * themselves.
 */
export interface OtelExport {
  readonly url: string;
  readonly protocol: (typeof protocols)[number];
}

const protocols = ['http/protobuf', 'http/json'] as const;
const samplers = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

type Environment = Readonly<Record<string, string | undefined>>;
type Signal = 'traces' | 'metrics';

/**
 * Reads the settings. Returns `undefined` when no variable requests an export. `faults` has a sentence for each wrong
 * value.
 */
export function readOtel(env: Environment): OtelSettings | undefined | { readonly faults: readonly string[] } {
  const of = (name: string): string => (env[name] ?? '').trim();
  if (of('OTEL_SDK_DISABLED').toLowerCase() === 'true') return undefined;
  const faults: string[] = [];
  const oneOf = <const Word extends string>(name: string, words: readonly Word[], usual: Word): Word => {
    const text = of(name).toLowerCase();
    const found = words.find((word) => word === text);
    if (text !== '' && found === undefined) faults.push(`${name} is \`${of(name)}\`; write ${words.join(', ')}.`);
    return found ?? usual;
  };
  const numberOf = (name: string, usual: number, least: number, most: number): number => {
    const value = of(name) === '' ? usual : Number(of(name));
    if (value >= least && value <= most) return value;
    faults.push(`${name} is \`${of(name)}\`; write a number from ${least} to ${most}.`);
    return usual;
  };
  const exportOf = (signal: Signal): OtelExport | undefined => {
    const prefix = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}`;
    const [own, common] = [of(`${prefix}_ENDPOINT`), of('OTEL_EXPORTER_OTLP_ENDPOINT')];
    const name = `OTEL_${signal.toUpperCase()}_EXPORTER`;
    const isAsked = own !== '' || common !== '' || of(name) !== '';
    if (!isAsked || oneOf(name, ['otlp', 'none'], 'otlp') === 'none') return undefined;
    const protocolName = of(`${prefix}_PROTOCOL`) === '' ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : `${prefix}_PROTOCOL`;
    if (of(protocolName).toLowerCase() === 'grpc') {
      faults.push(`${protocolName} is \`grpc\`, which Heddle does not support; write http/protobuf or http/json.`);
      return undefined;
    }
    const protocol = oneOf(protocolName, protocols, 'http/protobuf');
    const base = common === '' ? 'http://localhost:4318' : common;
    const url = own === '' ? `${base.replace(/\/+$/, '')}/v1/${signal}` : own;
    if (!/^https?:$/.test(protocolOf(url)))
      faults.push(`The OTLP endpoint of ${signal} is not a URL; write one such as http://collector:4318.`);
    return { url, protocol };
  };
  const [traces, metrics] = [exportOf('traces'), exportOf('metrics')];
  const sampler = oneOf('OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on');
  const ratio = numberOf('OTEL_TRACES_SAMPLER_ARG', 1, 0, 1);
  const intervalMs = numberOf('OTEL_METRIC_EXPORT_INTERVAL', 60_000, 100, 86_400_000);
  const queue = numberOf('OTEL_BSP_MAX_QUEUE_SIZE', 2048, 1, 1_000_000);
  const batch = {
    delayMs: numberOf('OTEL_BSP_SCHEDULE_DELAY', 5000, 1, 3_600_000),
    queue,
    size: Math.min(queue, numberOf('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1, 1_000_000)),
  };
  if (traces === undefined && metrics === undefined && faults.length === 0) return undefined;
  return faults.length > 0 ? { faults } : { traces, metrics, sampler, ratio, intervalMs, batch };
}

function protocolOf(url: string): string {
  return URL.parse(url)?.protocol ?? '';
}
