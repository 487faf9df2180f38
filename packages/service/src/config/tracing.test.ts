import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, describeConfig, readConfig, type Environment } from './index.ts'

const tracingOf = (env: Environment) => readConfig(env).tracing
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318' }

test('tracing is off unless an endpoint or the exporter asks for it, and OTEL_SDK_DISABLED turns it off', () => {
  assert.equal(tracingOf({}), undefined)
  assert.equal(tracingOf({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }), undefined)
  assert.equal(tracingOf({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }), undefined)
  // Nothing else is read then, so that the switch also works where another setting is wrong.
  assert.equal(tracingOf({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE', OTEL_TRACES_SAMPLER: 'x' }), undefined)
  assert.deepEqual(tracingOf(ENDPOINT), {
    url: 'http://collector.example:4318/v1/traces',
    protocol: 'http/protobuf',
    serviceName: 'agent-exchange',
    sampler: { isParentBased: true, ratio: 1 },
  })
  assert.equal(tracingOf({ OTEL_TRACES_EXPORTER: 'otlp' })?.url, 'http://localhost:4318/v1/traces')
})

test('a setting for traces only takes precedence, and its URL is used as it is', () => {
  const config = tracingOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example/base/',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'exchange-eu',
  })
  assert.deepEqual(
    [config?.url, config?.protocol, config?.serviceName],
    ['http://collector.example/base/v1/traces', 'http/json', 'exchange-eu'],
  )
  const own = { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in' }
  assert.equal(tracingOf(own)?.url, 'https://traces.example/in')
})

test('every standard sampler is known; the argument is a share', () => {
  const samplerOf = (name: string) =>
    tracingOf({ ...ENDPOINT, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.25' })?.sampler
  assert.deepEqual(samplerOf('always_on'), { isParentBased: false, ratio: 1 })
  assert.deepEqual(samplerOf('always_off'), { isParentBased: false, ratio: 0 })
  assert.deepEqual(samplerOf('traceidratio'), { isParentBased: false, ratio: 0.25 })
  assert.deepEqual(samplerOf('parentbased_always_on'), { isParentBased: true, ratio: 1 })
  assert.deepEqual(samplerOf('parentbased_always_off'), { isParentBased: true, ratio: 0 })
  assert.deepEqual(samplerOf('parentbased_traceidratio'), { isParentBased: true, ratio: 0.25 })
})

test('a value that cannot be used is refused with a sentence', () => {
  const cases: [name: string, value: string, says: RegExp][] = [
    ['OTEL_SDK_DISABLED', 'yes', /true or false/u],
    ['OTEL_TRACES_EXPORTER', 'console', /otlp or none/u],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', /https:\/\/ or http:\/\//u],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector', /Leave out user information/u],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'nowhere', /absolute URL/u],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /http\/protobuf or http\/json/u],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc', /http\/protobuf or http\/json/u],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /parentbased_traceidratio/u],
    ['OTEL_TRACES_SAMPLER', 'toString', /Use one of/u],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', /from 0 to 1/u],
    ['OTEL_TRACES_SAMPLER_ARG', '-1', /from 0 to 1/u],
    ['OTEL_SERVICE_NAME', 'x'.repeat(256), /at most 255/u],
  ]
  for (const [name, value, says] of cases)
    assert.throws(
      () => readConfig({ [name]: value }),
      (error) =>
        error instanceof ConfigError &&
        error.settings.length === 1 &&
        error.settings[0]?.variable === name &&
        says.test(error.settings[0].message),
      `${name}=${value}`,
    )
})

test('[ERR-02] aex config does not show the headers for the collector', () => {
  const rows = describeConfig({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary' })
  assert.equal(JSON.stringify(rows).includes('canary'), false)
})
