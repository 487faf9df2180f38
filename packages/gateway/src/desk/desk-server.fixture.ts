import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runningClock } from '@agent-exchange/testkit'
import { CLIENT_ID, CLIENT_SECRET, startIdentityProvider } from '@agent-exchange/testkit/identity-provider'
import { parseDeskRoles } from '../config/desk-sign-on.ts'
import { testContents } from '../content/contents.fixture.ts'
import { gatewayDatabase, testBox } from '../stores/gateway-database.fixture.ts'
import { deskVisitor } from './desk-visitor.fixture.ts'
import { openDesk } from './open-desk.ts'

/** The desk without agents, with a database and an identity provider. Passkeys need the host name `localhost`. */
export async function startDesk(host: '127.0.0.1' | 'localhost' = '127.0.0.1') {
  const database = await gatewayDatabase()
  const { db } = database
  const clock = runningClock()
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const origin = `http://${host}:${port}`
  const provider = await startIdentityProvider([`${origin}/sign-in/oidc/callback`])
  const logged: string[] = []
  const write = (fields: object, message: string) => void logged.push(JSON.stringify({ ...fields, message }))
  const desk = openDesk({
    db,
    clock,
    agents: { list: () => [], find: () => undefined },
    contents: testContents(db),
    masterKey: new Uint8Array(32).fill(7),
    box: testBox(),
    publicUrl: origin,
    address: { host: '127.0.0.1', port, tls: false, publicUrl: origin },
    signOn: {
      issuer: provider.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      roles: parseDeskRoles('groups:planning=planner,leads=approver,admins=administrator'),
    },
    log: { warn: write, error: write },
  })
  server.on('request', (request, response) => void desk.handle(request, response))

  /** A browser at the provider: follows its redirects, with its cookies, until it sends the browser back. */
  function providerBrowser() {
    const jar = deskVisitor(provider.issuer)
    return async (start: string): Promise<string> => {
      let address = start
      for (let step = 0; step < 10 && !address.startsWith(origin); step++) {
        const next = (await jar.get(address)).headers.get('location')
        if (next === null) throw new Error(`the provider does not redirect from ${address}`)
        address = new URL(next, address).href
      }
      return address
    }
  }

  /** Where the desk sends the browser. */
  async function leave(visitor: Visitor, { next = '/', again = false }: Leaving = {}): Promise<string> {
    const left = await visitor.get(`/sign-in/oidc?next=${encodeURIComponent(next)}${again ? '&again' : ''}`)
    return left.headers.get('location') ?? ''
  }

  return {
    db,
    clock,
    port,
    origin,
    provider,
    logged,
    providerBrowser,
    leave,
    async signOn(
      visitor: Visitor,
      {
        browser = providerBrowser(),
        ...how
      }: Leaving & { browser?: ReturnType<typeof providerBrowser> } = {},
    ) {
      return visitor.get(await browser(await leave(visitor, how)))
    },
    async [Symbol.asyncDispose]() {
      desk[Symbol.dispose]()
      server.closeAllConnections()
      server.close()
      await provider[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

type Visitor = ReturnType<typeof deskVisitor>

interface Leaving {
  readonly next?: string
  /** The provider has to ask the person. */
  readonly again?: boolean
}
