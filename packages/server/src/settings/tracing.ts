import { SettingError, type SettingsReader } from './settings-reader.ts'
import { parseCollectorUrl } from './urls.ts'
import type { TracingVariable } from './tracing-variables.ts'

/** Where spans go, and which ones. The exporter itself reads the other OTEL_EXPORTER_OTLP_* variables. */
export interface TracingConfig {
  readonly url: string
  readonly protocol: OtlpProtocol
  readonly serviceName: string
  readonly sampler: SamplerConfig
}

export interface SamplerConfig {
  /** Whether the sampled flag of an incoming `traceparent` decides. */
  readonly isParentBased: boolean
  /** Share of the other traces, from 0 to 1. */
  readonly ratio: number
}

const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const
type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number]

/** The OTLP specification names this address, protocol and path. */
const DEFAULT_ENDPOINT = 'http://localhost:4318'
const DEFAULT_PROTOCOL = 'http/protobuf'
const TRACES_PATH = 'v1/traces'
const MAXIMUM_NAME_CHARACTERS = 255

/** Undefined: tracing is off, which is the default. */
export function readTracing(
  { checked, value }: Pick<SettingsReader<TracingVariable>, 'checked' | 'value'>,
  defaultServiceName: string,
): TracingConfig | undefined {
  if (checked('OTEL_SDK_DISABLED', parseBoolean)) return undefined
  const first = <T>(names: readonly TracingVariable[], check: (text: string) => T) =>
    names.map((name) => checked(name, check)).find((each) => each !== undefined)
  const exporter = checked('OTEL_TRACES_EXPORTER', parseExporter)
  const tracesUrl = checked('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', parseCollectorUrl)
  const base = checked('OTEL_EXPORTER_OTLP_ENDPOINT', parseCollectorUrl)
  const protocol = first(['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'], parseProtocol)
  const serviceName = checked('OTEL_SERVICE_NAME', parseName)
  const sampler = checked('OTEL_TRACES_SAMPLER', parseSampler)
  const ratio = checked('OTEL_TRACES_SAMPLER_ARG', parseRatio) ?? 1
  const hasEndpoint =
    value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== undefined ||
    value('OTEL_EXPORTER_OTLP_ENDPOINT') !== undefined
  if (exporter === 'none' || (exporter === undefined && !hasEndpoint)) return undefined
  return {
    url: tracesUrl ?? `${(base ?? DEFAULT_ENDPOINT).replace(/\/$/u, '')}/${TRACES_PATH}`,
    protocol: protocol ?? DEFAULT_PROTOCOL,
    serviceName: serviceName ?? defaultServiceName,
    sampler: (sampler ?? SAMPLERS.parentbased_always_on)(ratio),
  }
}

/** Only the ratio samplers use OTEL_TRACES_SAMPLER_ARG. */
const SAMPLERS = {
  always_on: () => ({ isParentBased: false, ratio: 1 }),
  always_off: () => ({ isParentBased: false, ratio: 0 }),
  traceidratio: (ratio) => ({ isParentBased: false, ratio }),
  parentbased_always_on: () => ({ isParentBased: true, ratio: 1 }),
  parentbased_always_off: () => ({ isParentBased: true, ratio: 0 }),
  parentbased_traceidratio: (ratio) => ({ isParentBased: true, ratio }),
} as const satisfies Record<string, (ratio: number) => SamplerConfig>

function parseSampler(text: string): (ratio: number) => SamplerConfig {
  if (!Object.hasOwn(SAMPLERS, text))
    throw new SettingError(`Use one of ${Object.keys(SAMPLERS).join(', ')}.`)
  return SAMPLERS[text as keyof typeof SAMPLERS]
}

function parseRatio(text: string): number {
  const ratio = /^\d+(?:\.\d+)?$/u.test(text) ? Number(text) : Number.NaN
  if (!(ratio >= 0 && ratio <= 1)) throw new SettingError('Use a number from 0 to 1.')
  return ratio
}

function parseExporter(text: string): 'otlp' | 'none' {
  if (text === 'otlp' || text === 'none') return text
  throw new SettingError('Use otlp or none.')
}

function parseProtocol(text: string): OtlpProtocol {
  const protocol = OTLP_PROTOCOLS.find((each) => each === text)
  if (protocol === undefined) throw new SettingError(`Use ${OTLP_PROTOCOLS.join(' or ')}.`)
  return protocol
}

function parseName(text: string): string {
  if (text.length > MAXIMUM_NAME_CHARACTERS)
    throw new SettingError(`Use at most ${MAXIMUM_NAME_CHARACTERS} characters.`)
  return text
}

function parseBoolean(text: string): boolean {
  const lower = text.toLowerCase()
  if (lower !== 'true' && lower !== 'false') throw new SettingError('Use true or false.')
  return lower === 'true'
}
