/** Variables of the OpenTelemetry specification, the same for every server. OTEL_SERVICE_NAME has a default of its own in each. */
export const TRACING_VARIABLES = [
  { name: 'OTEL_SDK_DISABLED', meaning: 'true: no traces, whatever else is set', default: 'false' },
  {
    name: 'OTEL_TRACES_EXPORTER',
    meaning: 'otlp: export traces; none: do not',
    default: 'otlp if an endpoint is set, otherwise none',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    meaning: 'collector of traces (OTLP over HTTP), such as http://localhost:4318',
    default: 'none',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    meaning: 'full URL for traces; takes precedence over OTEL_EXPORTER_OTLP_ENDPOINT',
    default: 'OTEL_EXPORTER_OTLP_ENDPOINT and /v1/traces',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    meaning: 'http/protobuf or http/json',
    default: 'http/protobuf',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    meaning: 'the same for traces only',
    default: 'OTEL_EXPORTER_OTLP_PROTOCOL',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    meaning: 'headers for the collector, as name=value,name=value; the exporter reads it',
    default: 'none',
    secret: true,
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    meaning: 'the same for traces only',
    default: 'OTEL_EXPORTER_OTLP_HEADERS',
    secret: true,
  },
  {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    meaning: 'further attributes of this service in traces, as name=value,name=value; the exporter reads it',
    default: 'none',
  },
  {
    name: 'OTEL_TRACES_SAMPLER',
    meaning:
      'which traces are recorded: always_on, always_off, traceidratio, or one of them after parentbased_, where the ' +
      'caller may decide',
    default: 'parentbased_always_on',
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    meaning: 'share of traces for traceidratio, from 0 to 1',
    default: '1',
  },
] as const

export type TracingVariable = (typeof TRACING_VARIABLES)[number]['name'] | 'OTEL_SERVICE_NAME'
