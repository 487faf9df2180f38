import assert from 'node:assert/strict'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { aexHere, aexRunning, documentOf, fails, succeeds } from '../../aex-here.fixture.ts'
import {
  API_KEY,
  companiesInDataSpace,
  partnerOf,
  settingOf,
  type CompaniesInDataSpace,
  type Company,
} from './data-space.fixture.ts'

let space: CompaniesInDataSpace
before(async () => {
  space = await companiesInDataSpace()
})
after(() => space[Symbol.asyncDispose]())

const at = ({ dir }: Company, ...words: string[]) => ['agent', ...words, '--dir', dir]

/** Serves what these companies offer until the test ends. */
async function serving(...companies: readonly Company[]): Promise<AsyncDisposable> {
  const servers = new AsyncDisposableStack()
  for (const company of companies) {
    const server = servers.use(aexRunning(...at(company, 'data-address'), '--json'))
    await server.until(/Serving the data address at/)
    assert.match((JSON.parse(server.printed()) as { url: string }).url, /^http/u)
  }
  return servers
}

interface Sent {
  readonly package_id: string
  readonly thread_id: string
}

let made = 0
/** A file with a new object, under a policy that is written beside it. */
async function drawn(
  type: string,
  by: Company,
  to: Company,
  ...options: string[]
): Promise<[string, string]> {
  const [policy, object] = [`policy-${++made}`, `object-${made}`].map((name) => space.path(`${name}.json`))
  assert.ok(policy !== undefined && object !== undefined)
  const terms = ['--to', to.organizationId, '--policy-id', `pol_${made}`, '--dir', by.dir]
  await succeeds('new', 'policy_envelope', ...terms, '--out', policy)
  await succeeds('new', type, ...terms, ...options, '--out', object)
  return [object, policy]
}

async function send(by: Company, to: Company): Promise<Sent> {
  const [object, policy] = await drawn('reasoning_package', by, to)
  return documentOf<Sent>(...at(by, 'send', object, '--policy', policy, '--to', to.agentId))
}

async function open(by: Company, packageId: string): Promise<string> {
  const { metadata } = await documentOf<{ metadata: { transport_mode: string } }>(
    ...at(by, 'open', packageId),
  )
  return metadata.transport_mode
}

test('[PKG-05] send, open, several answers in a row, and a revocation by ds_x, all by the command line', async () => {
  const { acme, bolt } = space
  await using _ = await serving(acme, bolt)
  const first = await send(acme, bolt)
  assert.equal(await open(bolt, first.package_id), 'ds_x')

  let about = first.package_id
  for (const [by, to] of [
    [bolt, acme],
    [acme, bolt],
    [bolt, acme],
  ] as const) {
    const terms = ['--about', about, '--thread', first.thread_id]
    const [object, policy] = await drawn('response_object', by, to, ...terms)
    const answer = await documentOf<Sent>(...at(by, 'respond', about, object, '--policy', policy))
    assert.equal(answer.thread_id, first.thread_id)
    assert.equal(await open(to, answer.package_id), 'ds_x')
    about = answer.package_id
  }
  const thread = await documentOf<{ transport_mode: string; packages: { state: string }[] }>(
    ...at(acme, 'thread', first.thread_id),
  )
  assert.equal(thread.transport_mode, 'ds_x')
  assert.deepEqual(
    thread.packages.map(({ state }) => state),
    ['responded', 'responded', 'responded', 'opened'],
  )

  const second = await send(acme, bolt)
  const reason = ['--reason-code', 'superseded', '--reason', 'A newer one follows.']
  assert.match(
    await succeeds(...at(acme, 'revoke', second.package_id, ...reason)),
    /is revoked\n {2}nobody can fetch it any more/,
  )
  assert.match(await fails(...at(bolt, 'open', second.package_id)), /\(content_unavailable\)/)

  assert.match(await succeeds(...at(acme, 'receive')), /received; nothing is missing/)
  assert.match(await succeeds(...at(acme, 'resume')), /Nothing is waiting/)
  const doctor = await succeeds(...at(acme, 'doctor'))
  assert.match(doctor, /native, ds_x[^]*✔ connector: edc-acme can be used; 1 partner\(s\)/)
})

test('a data address that does not run is named by send and by the doctor, and starting it is enough', async () => {
  const { acme, bolt } = space
  const [object, policy] = await drawn('reasoning_package', acme, bolt)
  const sent = await aexHere(...at(acme, 'send', object, '--policy', policy, '--to', bolt.agentId, '--json'))
  assert.equal(sent.code, 0, sent.stderr)
  const step = `aex agent data-address --dir ${acme.dir}\n`
  assert.ok(sent.stderr.includes(step) && /warning: nothing serves the data address/.test(sent.stderr))
  const doctor = await aexHere(...at(acme, 'doctor'))
  assert.equal(doctor.code, 1)
  assert.ok(doctor.stdout.includes(step) && /✖ connector: Nothing serves/.test(doctor.stdout), doctor.stdout)
  const { package_id: id } = JSON.parse(sent.stdout) as Sent
  await fails(...at(bolt, 'open', id))
  await using _ = await serving(acme)
  assert.equal(await open(bolt, id), 'ds_x')
  assert.match(
    await fails(...at(acme, 'data-address')),
    /is in use\. If the data address runs already, leave it/,
  )
})

test('the check of a connector starts the data address if need be, and asks the partner too', async () => {
  const { acme, bolt } = space
  const checked = await succeeds(...at(acme, 'connector', 'check', '--partner', bolt.organizationId))
  assert.match(checked, /✔ counterparty[^]*✔ dry run[^]*The connector can carry packages\.\n$/)
  await using _ = await serving(acme)
  const { ok } = await documentOf<{ ok: boolean }>(...at(acme, 'connector', 'check'))
  assert.equal(ok, true)
  assert.match(
    await fails(...at(acme, 'connector', 'check', '--partner', 'org_none')),
    /org_none is not among the partners\. Run: \S*(?:npx )?aex agent connector partner org_none /,
  )
  acme.edc.faults = { managementAnswer: { status: 401, body: '{}' } }
  const doctor = await aexHere(...at(acme, 'doctor', '--json'))
  acme.edc.faults = {}
  assert.equal(doctor.code, 1)
  assert.match(doctor.stdout, /management_api: .*connector check/)
})

test('settings are private, keep the partners, and are shown without the key', async () => {
  const { acme, bolt } = space
  const file = join(acme.dir, 'connector.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(readFileSync(file, 'utf8').includes(API_KEY))
  await succeeds(...settingOf(acme, space.path('key')))
  for (const shown of [
    await succeeds(...at(acme, 'connector', 'show')),
    await succeeds(...at(acme, 'connector', 'show', '--json')),
    await succeeds(...partnerOf(acme, bolt), '--json'),
  ]) {
    assert.ok(!shown.includes(API_KEY))
    assert.match(shown, /edc-acme[^]*BPNL-bolt/)
  }
  chmodSync(file, 0o644)
  assert.match(await fails(...at(acme, 'connector', 'show')), /contains a key that other users can read/)
  chmodSync(file, 0o600)
})

test('settings that cannot be used are refused in a sentence, and nothing is kept', async () => {
  const { acme } = space
  const file = join(acme.dir, 'connector.json')
  const kept = readFileSync(file, 'utf8')
  const set = settingOf(acme, space.path('key'))
  const cases: readonly [words: readonly string[], sentence: RegExp][] = [
    [['--management-url', 'http://edc.example/management'], /must be https/],
    [['--api-key-file', space.path('none')], /key file \S+ cannot be read/],
    [['--data-host', '0.0.0.0'], /Nobody can call 0\.0\.0\.0\. Give --data-url/],
    [['--data-cert', space.path('key')], /both --data-cert and --data-key/],
    [['--data-cert', space.path('none'), '--data-key', space.path('none')], /cannot be read/],
    [['--data-cert', space.path('key'), '--data-key', space.path('key')], /not a certificate and its/],
    [['--data-host', '10.0.0.1'], /beyond loopback/],
    [['--data-allow', 'everybody'], /everybody is not an address or subnet/],
    [['--participant', ''], /A value is empty/],
  ]
  for (const [words, sentence] of cases) assert.match(await fails(...set, ...words), sentence)
  assert.match(await fails(...at(acme, 'connector', 'partner', 'acme', '--remove')), /starts with "org_"/)
  assert.match(await fails(...at(acme, 'connector', 'partner', 'org_bolt')), /Give both --participant and/)
  assert.equal(readFileSync(file, 'utf8'), kept)
  writeFileSync(file, '{}')
  assert.match(await fails(...at(acme, 'open', 'pkg_1')), /does not hold the settings of a connector/)
  writeFileSync(file, kept)
})

test('without a connector, or without the partner, a ds_x thread says what to set', async () => {
  const { acme, bolt } = space
  await using _ = await serving(acme)
  const { package_id: id } = await send(acme, bolt)
  await succeeds(...at(bolt, 'connector', 'partner', 'org_acme', '--remove'))
  assert.match(
    await fails(...at(bolt, 'open', id)),
    /connector_missing[^]*aex agent connector partner --help --dir/,
  )
  await succeeds(...at(bolt, 'connector', 'remove'))
  assert.match(
    await fails(...at(bolt, 'open', id)),
    /connector_missing[^]*aex agent connector set --help --dir/,
  )
  assert.match(await fails(...at(bolt, 'data-address')), /No connector is set in \S+\. See: /)
  const registered = await documentOf<{ transport_modes: string[] }>(...at(bolt, 'register'))
  assert.deepEqual(registered.transport_modes, ['native'])
  assert.match(await succeeds(...at(bolt, 'doctor')), /✔ connector: none is set/)

  await succeeds(...settingOf(bolt, space.path('key')))
  assert.match(
    (await aexHere(...at(bolt, 'doctor'))).stdout,
    /without ds_x\. Run: \S*(?:npx )?aex agent register/,
  )
  await succeeds(...partnerOf(bolt, acme))
  assert.equal(await open(bolt, id), 'ds_x')
})
