import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { freePorts, testAuthority } from '@agent-exchange/testkit'
import { CLIENT_ID, CLIENT_SECRET, startIdentityProvider } from '@agent-exchange/testkit/identity-provider'
import type { WatchedPage } from '@agent-exchange/testkit/browser'
import { adminOf, exampleRealm, type Admin, type RealmClient } from '../keycloak/keycloak-admin.ts'
import { installKeycloak, startKeycloak } from '../keycloak/keycloak-server.ts'
import { Skipped } from '../shared/report.ts'

/** Somebody of the company, with an account at its identity provider. */
export interface Employee {
  readonly account: string
  readonly name: string
  readonly group: string
}

/** The company's identity provider. */
export interface SignInProvider extends AsyncDisposable {
  readonly name: string
  readonly origin: string
  /** Variables of the gateway. */
  readonly settings: Record<string, string>
  /** From the sign-in page of the desk through the provider, back to the desk. */
  signIn(page: WatchedPage['page'], employee: Employee): Promise<void>
  /** From the page of passkeys, which needs a sign-in that asked the person again. */
  signInAgain(page: WatchedPage['page']): Promise<void>
}

const REALM = 'exchange'
const DESK_CLIENT = 'aex-desk'
/** In deploy/keycloak. */
const EXAMPLE_GATEWAY = 'https://gateway.example'
const PASSWORD = 'only-for-this-test'
const COMPANY_ACCOUNT = { name: 'Sign in with your company account' } as const
const AGAIN = { name: 'Sign in again, then register' } as const

/** Keycloak, or why it cannot be had here: then the provider of the other tests takes its place. */
export async function startSignInProvider(
  desk: string,
  employees: readonly Employee[],
): Promise<SignInProvider> {
  try {
    return await startKeycloakProvider(await installKeycloak(), { desk, employees })
  } catch (error) {
    if (!(error instanceof Skipped)) throw error
    console.log(`skipped: Keycloak: ${error.message}`)
    return startSmallProvider(desk)
  }
}

async function startKeycloakProvider(
  home: string,
  { desk, employees }: { readonly desk: string; readonly employees: readonly Employee[] },
): Promise<SignInProvider> {
  await using stack = new AsyncDisposableStack()
  const folder = temporaryFolder(stack)
  const authority = await testAuthority()
  // What NODE_EXTRA_CA_CERTS does for a whole process: the gateway trusts the authority of Keycloak.
  setDefaultCACertificates([...getCACertificates('default'), authority.certificate])
  const [port = 0] = await freePorts(1)
  const identity = await authority.server()
  const keycloak = stack.use(
    await startKeycloak(home, { folder, port, identity, clientCa: authority.certificate }),
  )
  const admin = adminOf(keycloak.url)
  await admin('POST', '', { ...realmFor(desk), users: employees.map(accountOf) })
  const secretFile = join(folder, 'client-secret')
  writeFileSync(secretFile, await newClientSecret(admin), { mode: 0o600 })
  const owned = stack.move()
  return {
    name: 'Keycloak',
    origin: keycloak.url,
    settings: signOnSettings(`${keycloak.url}/realms/${REALM}`, DESK_CLIENT, secretFile),
    async signIn(page, { account }) {
      await page.getByRole('link', COMPANY_ACCOUNT).click()
      await page.getByLabel('Username or email').fill(account)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign In' }).click()
    },
    async signInAgain(page) {
      await page.getByRole('link', AGAIN).click()
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign In' }).click()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The realm of deploy/keycloak, for this desk. The exchange of this test does not use it. */
function realmFor(desk: string) {
  const realm = exampleRealm('https://exchange.example')
  const isOfDesk = ({ clientId }: RealmClient) => clientId === DESK_CLIENT
  const clients = JSON.stringify(realm.clients.filter(isOfDesk)).replaceAll(EXAMPLE_GATEWAY, desk)
  return { ...realm, clients: JSON.parse(clients) as RealmClient[] }
}

function accountOf({ account, name, group }: Employee) {
  const [firstName = '', lastName = ''] = name.split(' ')
  return {
    username: account,
    firstName,
    lastName,
    email: mailOf(account),
    emailVerified: true,
    enabled: true,
    groups: [group],
    credentials: [{ type: 'password', value: PASSWORD, temporary: false }],
  }
}

async function newClientSecret(admin: Admin): Promise<string> {
  const [client] = await admin<{ id: string }[]>('GET', `/${REALM}/clients?clientId=${DESK_CLIENT}`)
  const { value } = await admin<{ value: string }>(
    'POST',
    `/${REALM}/clients/${client?.id ?? ''}/client-secret`,
  )
  return value
}

/** Signs in whoever is expected, without a page of its own. */
async function startSmallProvider(desk: string): Promise<SignInProvider> {
  await using stack = new AsyncDisposableStack()
  const provider = stack.use(await startIdentityProvider([`${desk}/sign-in/oidc/callback`]))
  const secretFile = join(temporaryFolder(stack), 'client-secret')
  writeFileSync(secretFile, CLIENT_SECRET, { mode: 0o600 })
  const owned = stack.move()
  return {
    name: 'the provider of the tests',
    origin: provider.issuer,
    settings: signOnSettings(provider.issuer, CLIENT_ID, secretFile),
    async signIn(page, { account, name, group }) {
      provider.setPerson({
        sub: account,
        name,
        email: mailOf(account),
        email_verified: true,
        groups: [group],
      })
      await page.getByRole('link', COMPANY_ACCOUNT).click()
    },
    signInAgain: (page) => page.getByRole('link', AGAIN).click(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const mailOf = (account: string) => `${account}@cars.example`

const signOnSettings = (issuer: string, clientId: string, secretFile: string) => ({
  AEX_GATEWAY_OIDC_ISSUER: issuer,
  AEX_GATEWAY_OIDC_CLIENT_ID: clientId,
  AEX_GATEWAY_OIDC_CLIENT_SECRET_FILE: secretFile,
  AEX_GATEWAY_OIDC_ROLES: 'groups:planning=planner,leads=approver,audit=auditor,aex-admins=administrator',
})

function temporaryFolder(stack: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'aex-day-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
