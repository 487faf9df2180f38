import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates, setDefaultCACertificates } from 'node:tls'
import { openDatabase } from '@agent-exchange/database'
import { startEmbedded, type EmbeddedDatabase } from '@agent-exchange/database/embedded'
import { freePorts, QUICK_LOG, testAuthority } from '@agent-exchange/testkit'
import { prepareSoftHsm, type SoftHsm } from '../pkcs11/soft-hsm.ts'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import { Skipped } from '../shared/report.ts'
import { startCompany, type Company } from './company.ts'
import { startForwarder, type Forwarder } from './forwarder.ts'

const NAMES = ['seats', 'cars'] as const

/** One exchange, and two companies with a gateway of two instances each. */
export interface Market extends AsyncDisposable {
  readonly exchange: Exchange
  readonly companies: readonly [Company, Company]
}

/** The same with the server of their databases and a module. */
export interface Scene extends Market {
  readonly database: EmbeddedDatabase
  /** What the instances connect to instead of the server itself. */
  readonly databasePort: Forwarder
  /** Undefined: the keys of both companies are in the database. */
  readonly hsm: SoftHsm | undefined
  /** Why there is no module. */
  readonly withoutModule: string | undefined
}

/** A database of a company, as the trial reaches it and as its instances do. */
export interface CompanyDatabase {
  readonly databaseUrl: string
  readonly servedUrl: string
}

export async function startScene(folder: string): Promise<Scene> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const { hsm, withoutModule } = await findModule(folder)
  if (hsm) Object.assign(process.env, hsm.env)
  const { database, port } = await startDatabases(join(folder, 'databases'), cleanup)
  const databasePort = cleanup.use(await startForwarder([port]))
  const { user, password } = database.administration
  const urlAt = (name: string, at: number) => `postgres://${user}:${password}@127.0.0.1:${at}/${name}`
  const market = cleanup.use(
    await startMarket(
      folder,
      (name) => ({ databaseUrl: urlAt(name, port), servedUrl: urlAt(name, databasePort.port) }),
      hsm && { cars: moduleSettings(hsm) },
    ),
  )
  const stop = undo.move()
  return {
    ...market,
    database,
    databasePort,
    hsm,
    withoutModule,
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}

type Name = (typeof NAMES)[number]

/** Starts exchange and gateways; the databases of the companies are there. */
export async function startMarket(
  folder: string,
  databaseOf: (name: Name) => CompanyDatabase | Promise<CompanyDatabase>,
  modules: Partial<Record<Name, Readonly<Record<string, string>>>> = {},
): Promise<Market> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const tls = await makeCertificate(folder)
  const profile = join(folder, 'profile.json')
  writeFileSync(profile, JSON.stringify(QUICK_LOG))
  const env = { AEX_WEBHOOK_CA: tls.caFile, AEX_WEBHOOK_ALLOW_PRIVATE: 'true', AEX_PROFILE: profile }
  const exchange = cleanup.use(await startExchange({ env }))
  const start = async (name: Name, partner: Name) => {
    const module = modules[name]
    const terms = { name, partner, exchange, tls, ...(await databaseOf(name)), ...(module && { module }) }
    return startCompany(terms, cleanup)
  }
  const companies = [await start('seats', 'cars'), await start('cars', 'seats')] as const
  const stop = undo.move()
  return { exchange, companies, [Symbol.asyncDispose]: () => stop.disposeAsync() }
}

async function findModule(
  folder: string,
): Promise<{ hsm: SoftHsm | undefined; withoutModule: string | undefined }> {
  try {
    return { hsm: await prepareSoftHsm(folder), withoutModule: undefined }
  } catch (error) {
    if (!(error instanceof Skipped)) throw error
    return { hsm: undefined, withoutModule: error.message }
  }
}

const moduleSettings = (hsm: SoftHsm) => ({
  ...hsm.env,
  AEX_PKCS11_MODULE: hsm.module,
  AEX_PKCS11_TOKEN: hsm.token,
  AEX_PKCS11_PIN_FILE: hsm.pinFile,
})

/** This process, as a program of a company, trusts the authority too. */
async function makeCertificate(folder: string) {
  const authority = await testAuthority()
  const { certificate, key } = await authority.server()
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  setDefaultCACertificates([...rootCertificates, authority.certificate])
  return {
    caFile: file('ca.pem', authority.certificate),
    certificateFile: file('gateway.pem', certificate),
    keyFile: file('gateway-key.pem', key),
  }
}

/** Apart from the exchange's server, with durable commits: it is killed. */
async function startDatabases(dataDirectory: string, cleanup: AsyncDisposableStack) {
  mkdirSync(dataDirectory)
  // As root, PostgreSQL runs as another user.
  chmodSync(dataDirectory, 0o711)
  const [port = 0] = await freePorts(1)
  const settings = { listen_addresses: '127.0.0.1', port: String(port) }
  const database = cleanup.use(await startEmbedded({ dataDirectory, log: () => undefined, settings }))
  const sql = openDatabase({
    target: database.administration,
    maximumConnections: 1,
    applicationName: 'trial setup',
  })
  for (const name of NAMES) await sql.unsafe(`create database ${name}`)
  await sql.end()
  return { database, port }
}
