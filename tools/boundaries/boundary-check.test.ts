import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBoundaries, findImports } from './boundary-check.ts'

const faults = (path: string, text: string) => checkBoundaries({ path, text }).map(({ message }) => message)
const isRefused = (path: string, text: string, message: RegExp) => {
  const found = faults(path, text)
  assert.equal(found.length, 1, `${path}: ${text} gave ${JSON.stringify(found)}`)
  assert.match(found[0] ?? '', message)
}
const imports = (name: string) => `import x from '@agent-exchange/${name}'`
const at = (inService: string) => `packages/service/src/${inService}`
const isAllowed = (path: string, text: string) => assert.deepEqual(faults(path, text), [], `${path}: ${text}`)

test('every form of import is found, and nothing else', () => {
  const found = findImports(`
import a from 'one'
import type { B } from "two"
import 'three'
export * from 'four'
export {
  c,
} from 'five'
const d = await import('six')
// import e from 'comment'
const f = "import g from 'string'"
Array.from('not-an-import')
`)
  assert.deepEqual(
    found.map(({ specifier, line }) => `${line} ${specifier}`),
    ['2 one', '3 two', '4 three', '5 four', '8 five', '9 six'],
  )
})

test('packages import only along the dependency graph', () => {
  isAllowed('packages/crypto/src/a.ts', imports('protocol'))
  isAllowed('packages/cli/src/a.ts', imports('sdk'))
  isAllowed('bench/src/main.ts', imports('crypto'))
  isRefused(
    'packages/protocol/src/a.ts',
    imports('crypto'),
    /protocol may import no other package, not crypto/u,
  )
  isRefused(
    'packages/service/src/kernel/a.ts',
    imports('sdk'),
    /service may import protocol, crypto, log, web, database, server, pkcs11, not sdk/u,
  )
  isAllowed('packages/service/src/http/a.ts', imports('web'))
  isRefused('packages/web/src/a.ts', imports('service'), /web may import no other package/u)
  isRefused('packages/sdk/src/a.ts', imports('service'), /not service/u)
  isRefused('packages/sdk/src/a.test.ts', imports('service'), /not service/u)
  isAllowed('packages/service/src/features/audit/a.ts', imports('log'))
  isRefused('packages/log/src/a.ts', imports('sdk'), /log may import protocol, crypto, web, not sdk/u)
  isRefused('packages/crypto/src/a.ts', imports('cli/deep'), /not cli/u)
})

test('connectors build on the SDK, never the other way round', () => {
  isAllowed('packages/edc/src/a.ts', imports('sdk'))
  isAllowed('packages/cli/src/a.ts', imports('edc'))
  isAllowed('packages/sdk/src/a.ts', imports('log'))
  isRefused('packages/sdk/src/a.ts', imports('edc'), /not edc/u)
  isRefused('packages/sdk/src/a.test.ts', imports('edc'), /not edc/u)
  isRefused('packages/edc/src/a.ts', imports('service'), /not service/u)
})

test('the conformance kit knows contract, cryptography and log only, and nothing imports it', () => {
  isAllowed('packages/conformance/src/a.ts', imports('crypto'))
  for (const other of ['service', 'sdk', 'web', 'database'])
    isRefused(
      'packages/conformance/src/a.ts',
      imports(other),
      /conformance may import protocol, crypto, log/u,
    )
  for (const other of ['service', 'sdk', 'cli'])
    isRefused(`packages/${other}/src/a.ts`, imports('conformance'), /not conformance/u)
})

test('another package is never imported by a relative path', () => {
  isRefused('packages/cli/src/a.ts', "import x from '../../protocol/src/wire.ts'", /by its name/u)
})

test('only tests reach another package by a path, and only along the graph', () => {
  const fixture = "import x from '../../sdk/src/agents.fixture.ts'"
  isRefused('packages/cli/src/a.ts', "import x from '../../protocol/src/wire.ts'", /by its name/u)
  isAllowed('packages/edc/src/a.test.ts', fixture)
  isRefused('packages/service/src/a.test.ts', fixture, /not sdk/u)
})

test('the CLI imports the service only in commands that need it', () => {
  isAllowed('packages/cli/src/commands/serve.ts', imports('service/process'))
  isRefused('packages/cli/src/commands/agent/send.ts', imports('service/config'), /optional peer/u)
})

test('only tests import the testkit and the simulator', () => {
  const text = "import { startWorld } from '@agent-exchange/testkit'"
  isAllowed('packages/edc/src/a.test.ts', imports('edc-simulator'))
  isRefused('packages/edc/src/a.ts', imports('edc-simulator'), /only tests import edc-simulator/u)
  isAllowed('packages/service/src/features/agents/register.test.ts', text)
  isRefused('packages/service/src/features/agents/register.ts', text, /only tests import testkit/u)
})

test('the service is layered', () => {
  isAllowed(at('features/agents/register.ts'), "import x from '../../kernel/page.ts'")
  isAllowed(at('http/router.ts'), "import x from '../features/agents/register.ts'")
  isAllowed(at('service.ts'), "import x from './http/server.ts'")
  isAllowed(at('kernel/problem.test.ts'), "import x from '../http/server.ts'")
  isRefused(at('kernel/problem.ts'), "import x from '../features/agents/register.ts'", /kernel may import/u)
  isRefused(at('features/agents/register.ts'), "import x from '../../http/server.ts'", /not http/u)
  isRefused(at('operator/replay.ts'), "import x from '../service.ts'", /not service\.ts/u)
  isRefused(at('webhooks/worker/claim.ts'), "import x from '../../features/packages/create.ts'", /EVT-09/u)
  isAllowed(at('webhooks/worker/claim.ts'), "import x from '../../features/notifications/list.ts'")
})

test('the rooms of the SDK have one direction, for fixtures too', () => {
  const inSdk = (path: string) => `packages/sdk/src/${path}`
  isAllowed(inSdk('send/respond-to-package.ts'), "import x from '../open/open-package.ts'")
  isAllowed(inSdk('open/a.test.ts'), "import x from '../send/send-package.ts'")
  isRefused(inSdk('open/open-package.ts'), "import type { X } from '../send/send-input.ts'", /not send/u)
  isRefused(inSdk('drafts/draft.ts'), "import type { X } from '../agent.ts'", /not agent\.ts/u)
  isRefused(inSdk('peers/a.fixture.ts'), "import x from '../create-context.ts'", /not create-context\.ts/u)
  isRefused(inSdk('send/a.ts'), "import x from '../attic/a.ts'", /attic is in no layer of sdk/u)
})

test('the console knows only the operator API', () => {
  isAllowed(at('console/keys/pages.ts'), "import x from '../../operator/routes/keys.ts'")
  isAllowed(at('console/keys/pages.ts'), imports('web'))
  isAllowed(at('console/page-server.ts'), "import type { FastifyReply } from 'fastify'")
  isRefused(at('console/keys/pages.ts'), "import x from '../../features/keys/a.ts'", /only the operator API/u)
  isRefused(at('console/keys/pages.ts'), imports('database'), /only the operator API/u)
  isRefused(at('console/keys/pages.ts'), "import x from 'fastify'", /Fastify/u)
  isRefused(at('operator/server.ts'), "import x from '../console/console-pages.ts'", /not console/u)
})

test('drivers, frameworks and node: modules are imported in their places only', () => {
  isAllowed('packages/database/src/connection.ts', "import pg from 'pg'")
  isRefused('packages/service/src/features/a.ts', "import { Client } from 'pg'", /database driver/u)
  isRefused('packages/service/src/features/a.ts', "import type { Sql } from 'postgres'", /database driver/u)
  isAllowed('packages/service/src/http/server.ts', "import fastify from 'fastify'")
  isRefused('packages/service/src/oauth/mount.ts', "import helmet from '@fastify/helmet'", /Fastify/u)
  isAllowed('packages/crypto/src/primitives-node.ts', "import { sign } from 'node:crypto'")
  isRefused('packages/crypto/src/digest.ts', "import { hash } from 'node:crypto'", /primitives-node/u)
  isRefused('packages/protocol/src/index.ts', "import fs from 'node:fs'", /browser/u)
  isAllowed('packages/protocol/src/index.test.ts', "import { test } from 'node:test'")
})

test('only one place each reads the clock and the environment', () => {
  const clock = /reads the clock/u
  for (const text of [
    'Date.now()',
    'new Date()',
    'new Date ( )',
    'new Date;',
    'Date()',
    'performance.now()',
  ]) {
    isRefused('packages/crypto/src/webhook.ts', text, clock)
    isAllowed('packages/crypto/src/webhook.test.ts', text)
  }
  isAllowed('packages/server/src/clock.ts', 'new Date(Date.now())')
  isAllowed(
    'packages/crypto/src/webhook.ts',
    "new Date(created * 1000); Date.parse(text); 'Date.now()' // Date.now()",
  )
  isRefused('packages/service/src/http/server.ts', 'const port = process.env.AEX_PORT', /environment/u)
  isAllowed('packages/service/src/config/environment.ts', 'const { env } = process; process.env.AEX_PORT')
})
