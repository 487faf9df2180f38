import { startTestServer, type TestServer } from './test-server.ts'

/** For `node --test --test-global-setup`: one server for the whole run, unless TESTKIT_POSTGRES names one. */
let server: TestServer | undefined

export async function globalSetup(): Promise<void> {
  if (process.env['TESTKIT_POSTGRES']) return
  server = await startTestServer()
  process.env['TESTKIT_POSTGRES'] = server.url
  process.once('exit', server.abandon)
}

export async function globalTeardown(): Promise<void> {
  if (server === undefined) return
  process.removeListener('exit', server.abandon)
  await server[Symbol.asyncDispose]()
}
