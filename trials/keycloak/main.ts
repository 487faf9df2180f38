/** `npm run test:keycloak`: an exchange whose access tokens come from a real Keycloak. */

import assert from 'node:assert/strict'
import { createMemoryOutbox } from '@agent-exchange/sdk'
import { openPackage } from '../../packages/sdk/src/open/open-package.ts'
import { sendPackage } from '../../packages/sdk/src/send/send-package.ts'
import { inputFor } from '../../packages/sdk/src/send/drafts.fixture.ts'
import { runParts, type TrialTools } from '../shared/trial-parts.ts'
import { installKeycloak } from './keycloak-server.ts'
import { startKeycloakWorld, type KeycloakWorld } from './keycloak-world.ts'
import { readToken } from './token-parts.ts'
import { tryAttacks } from './try-attacks.ts'
import { tryClocks, tryEnd, tryOutage, tryRotation } from './try-life-of-keys.ts'

const HELP = `Starts Keycloak with the realm of deploy/keycloak and uses its tokens; exits 1 if something fails.

  npm run test:keycloak     needs Java and its jar program; Keycloak is downloaded once (160 MB)`

await runParts({
  help: HELP,
  names: ['keycloak'],
  async run(_wanted, { folder, report }) {
    let home = ''
    let given: KeycloakWorld | undefined
    const isThere = await report.step('Keycloak', 'download and build', async () => {
      home = await installKeycloak()
      return 'installed'
    })
    if (!isThere) return
    await report.step('Keycloak', 'start, realm, registration of two agents', async () => {
      given = await startKeycloakWorld(home, folder)
      return given.keycloak.url
    })
    if (!given) return
    await using world = given
    await tryTokens(world, report)
    await tryAttacks(world, report)
    await tryRotation(world, report)
    await tryClocks(world, report)
    await tryOutage(world, report)
    await tryEnd(world, report)
  },
})

async function tryTokens({ acme, bolt }: KeycloakWorld, report: TrialTools['report']): Promise<void> {
  await report.step('tokens', 'private_key_jwt and a client certificate', async () => {
    const [plain, bound] = await Promise.all([acme.connection.token(), bolt.connection.token()])
    for (const token of [plain, bound]) {
      const { typ, alg } = readToken(token).header
      assert.deepEqual([typ, alg], ['at+jwt', 'ES256'])
    }
    const [unbound, claims] = [readToken(plain).claims, readToken(bound).claims]
    assert.deepEqual([unbound['cnf'], unbound['organization_id']], [undefined, 'org_acme'])
    assert.deepEqual(Object.keys(claims['cnf'] as object), ['x5t#S256'])
    assert.deepEqual([claims['organization_id'], claims['agent_id']], ['org_bolt', 'agent_bolt_planner'])
    return 'RFC 9068, one of them certificate-bound'
  })
  await report.step('tokens', 'a package from one to the other', async () => {
    const outbox = createMemoryOutbox()
    const { packageId } = await sendPackage(acme, inputFor(acme, bolt), { outbox })
    const { object } = await openPackage(bolt, packageId)
    assert.equal(object.object_type, 'reasoning_package')
    return 'sent, opened'
  })
}
