import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, afterEach, before, test } from 'node:test'
import { startSimulator, type SimulatedParticipant, type Simulator } from '@agent-exchange/edc-simulator'
import { aexHere, fails, succeeds } from '../../aex-here.fixture.ts'
import { temporaryFolder } from '../agent/agents.fixture.ts'

const API_KEY = 'key-that-nobody-may-see-4711'
const folder = temporaryFolder()
let simulator: Simulator
let acme: SimulatedParticipant
let bolt: SimulatedParticipant
before(async () => {
  simulator = await startSimulator({
    participants: [{ participantId: 'BPNL-acme', apiKey: API_KEY }, { participantId: 'BPNL-bolt' }],
    stepMs: 10,
  })
  acme = simulator.participant('BPNL-acme')
  bolt = simulator.participant('BPNL-bolt')
  writeFileSync(folder.path('key'), `${API_KEY}\n`)
})
after(async () => {
  await simulator.close()
  folder[Symbol.dispose]()
})
afterEach(() => {
  acme.faults = {}
  delete process.env['AEX_CONNECTOR_API_KEY']
})

const where = (...options: string[]) => [
  'connector',
  'doctor',
  '--management-url',
  acme.managementUrl,
  '--participant',
  acme.participantId,
  '--protocol-url',
  acme.protocolEndpoint,
  '--version-url',
  acme.versionUrl,
  '--api-key-file',
  folder.path('key'),
  ...options,
]
const beside = () => ['--counterparty', bolt.participantId, '--counterparty-url', bolt.protocolEndpoint]

interface Report {
  readonly ok: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly hint: string }[]
}

test('a connector that can carry packages: every check in order, both ways, and a dry run that leaves nothing', async () => {
  const { code, stdout, stderr } = await aexHere(...where(...beside(), '--json'))
  assert.equal(code, 0, stdout + stderr)
  const { ok, checks } = JSON.parse(stdout) as Report
  assert.equal(ok, true)
  assert.deepEqual(
    checks.map(({ name }) => name),
    [
      'management_api',
      'clock',
      'api_version',
      'protocol_version',
      'data_plane',
      'participant_id',
      'counterparty',
      'dry_run',
      'access_policy',
    ],
  )
  assert.equal(acme.state.contractDefinitions.size, 0)
  const looked = await succeeds(...where('--no-dry-run'))
  assert.match(looked, /✔ management api: reached[^]*The connector can carry packages\.\n$/)
  assert.doesNotMatch(looked, /dry run/)
})

test('what is wrong is named with what to do about it, and the key is shown nowhere', async () => {
  const wrongKey = folder.path('wrong')
  writeFileSync(wrongKey, 'another-key')
  const refused = await aexHere(...where('--api-key-file', wrongKey))
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /✖ management api: [^]*Check the key[^]*Fix this first: management_api\.\n$/)

  const other = await aexHere(...where('--participant', 'BPNL-other', '--no-dry-run', '--json'))
  assert.equal(other.code, 1)
  const failing = (JSON.parse(other.stdout) as Report).checks.filter(({ ok }) => !ok)
  assert.deepEqual(
    failing.map(({ name }) => name),
    ['participant_id'],
  )
  assert.match(failing[0]?.hint ?? '', /somebody else than BPNL-other/)

  const nobody = ['--counterparty', 'BPNL-bolt', '--counterparty-url', acme.protocolEndpoint, '--no-dry-run']
  const confused = await aexHere(...where(...nobody))
  assert.equal(confused.code, 1)
  assert.match(confused.stdout, /✖ counterparty: it says BPNL-acme\n {4}Another participant answers/)

  acme.faults = { transferHangsAt: 'STARTING' }
  const stuck = await aexHere(...where('--timeout', '2'))
  assert.equal(stuck.code, 1)
  assert.match(stuck.stdout, /✖ dry run: [^]*Fix this first: dry_run/)

  for (const { stdout, stderr } of [refused, other, confused, stuck])
    assert.ok(!`${stdout}${stderr}`.includes(API_KEY) && !`${stdout}${stderr}`.includes('another-key'))
})

test('options that cannot be used are said in a sentence, before anything is sent', async () => {
  const half = ['--counterparty', 'BPNL-bolt']
  assert.match(await fails(...where(...half)), /Give both --counterparty and --counterparty-url/)
  assert.match(await fails(...where('--management-url', 'http://edc.example/management')), /must be https/)
  assert.match(await fails(...where('--api-key-file', folder.path('none'))), /key file \S+ cannot be read/)
  assert.match(await fails(...where('--data-host', '0.0.0.0')), /beyond loopback needs tls/)
  assert.match(await fails(...where('--data-cert', folder.path('key'))), /both --data-cert and --data-key/)
  const bare = where().slice(0, -2)
  assert.match(await fails(...bare), /Give --api-key-file FILE or set AEX_CONNECTOR_API_KEY/)
  process.env['AEX_CONNECTOR_API_KEY'] = API_KEY
  await succeeds(...bare, '--no-dry-run')
})
