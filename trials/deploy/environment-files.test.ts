import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { describeConfig, readConfig } from '@agent-exchange/service/config'
import { readGatewayConfig } from '@agent-exchange/gateway'
import { VARIABLES } from '../../packages/gateway/src/config/variables.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'

const read = (file: string) => readFileSync(join(ROOT, 'deploy', file), 'utf8')
const secrets = { DATABASE_URL: 'postgres://aex:secret@database/aex', AEX_MASTER_KEY: 'ab'.repeat(32) }
const unit = (role: 'api' | 'worker') => ({
  ...parseEnv(read(`systemd/${role}.env.example`)),
  AEX_ROLE: role,
})

test('API and worker of the systemd unit run on one machine, and the API has the first operator', () => {
  const [api, worker] = (['api', 'worker'] as const).map((role) => readConfig({ ...unit(role), ...secrets }))
  assert.notEqual(api?.operatorPort, worker?.operatorPort)
  assert.deepEqual([api?.createsFirstOperator, worker?.createsFirstOperator], [true, false])
})

test('the environment files name existing settings only', () => {
  const known = new Set<string>(describeConfig({}).map(({ name }) => name))
  const compose = Object.keys(parseEnv(read('compose.env.example')))
  // Variables of compose.yaml itself.
  const own = new Set(['AEX_DATABASE_PASSWORD', 'AEX_TLS_CERT_FILE', 'AEX_TLS_KEY_FILE'])
  const names = [...Object.keys(unit('api')), ...Object.keys(unit('worker')), ...compose]
  assert.deepEqual(
    names.filter((name) => !known.has(name) && !own.has(name)),
    [],
  )
})

test('the environment files of the gateway name existing settings only, and its unit starts on loopback', () => {
  const known = new Set<string>(VARIABLES.map(({ name }) => name))
  const own = new Set([
    'AEX_GATEWAY_DATABASE_PASSWORD',
    'AEX_GATEWAY_TLS_CERT_FILE',
    'AEX_GATEWAY_TLS_KEY_FILE',
  ])
  const settings = parseEnv(read('systemd/gateway.env.example'))
  const names = [...Object.keys(settings), ...Object.keys(parseEnv(read('gateway.env.example')))]
  assert.deepEqual(
    names.filter((name) => !known.has(name) && !own.has(name)),
    [],
  )
  const config = readGatewayConfig({
    ...settings,
    AEX_GATEWAY_DATABASE_URL: secrets.DATABASE_URL,
    AEX_GATEWAY_MASTER_KEY: secrets.AEX_MASTER_KEY,
  })
  assert.equal(config.host, '127.0.0.1')
})

test('files with secrets are kept out of the image build', () => {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  for (const file of ['deploy/compose.env', 'deploy/gateway.env', '**/*.env', '**/*.pem'])
    assert.ok(ignored.includes(file), file)
})
