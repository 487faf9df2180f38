import { countLeft, listInstances, rotateMasterKey, type OpenGateway } from '@agent-exchange/gateway'
import { Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { visibleJson } from '../../visible.ts'
import { gatewayLeaf, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

const STEPS = `
  1. Give every instance the new key beside the former one: AEX_GATEWAY_MASTER_KEY and AEX_GATEWAY_MASTER_KEY_PREVIOUS,
     or the two lines of AEX_GATEWAY_MASTER_KEY_FILE. Variables need a restart of each instance, one after another;
     files do not.
  2. Run aex gateway master-key rotate with both keys. It refuses while an instance lacks the new key. After an
     interruption, run it again.
  3. When nothing is left, remove the former key. Backups from before the rotation still need it.`

export function gatewayMasterKeyCommand(): Command {
  const status = gatewayLeaf(
    'status',
    'Show by fingerprint which master keys the instances have, and what the current one does not encrypt yet',
    'master-key status --json',
  ).action(async ({ json }: Json) => {
    const state = await withGateway(stateOf)
    if (json) return console.log(visibleJson(state))
    console.log(`master key  ${state.master_key_id}`)
    for (const { instance_id, has_key } of state.instances)
      console.log(`${instance_id}  ${has_key ? 'has it' : 'lacks it'}`)
    for (const { what, count } of state.left) console.log(`${what}: ${count} left`)
  })
  const rotate = gatewayLeaf(
    'rotate',
    'Encrypt everything under the current master key, while the gateway runs',
    'master-key rotate',
  )
    .addHelpText('after', STEPS)
    .action(async ({ json }: Json) => {
      const { rewrapped, left } = await withGateway(rotateAll)
      if (json) return console.log(visibleJson({ rewrapped, left }))
      console.log(
        `${rewrapped} keys and data keys were encrypted under the current master key; ${left} left.`,
      )
      if (left === 0) console.log('Remove the former key. Backups from before still need it.')
    })
  return new Command('master-key')
    .description('The key that encrypts the keys, content and drafts of the gateway')
    .addCommand(status)
    .addCommand(rotate)
}

async function stateOf({ db, box, masterKeyId }: OpenGateway) {
  const instances = await listInstances(db)
  return {
    master_key_id: masterKeyId,
    instances: instances.map(({ instanceId, masterKeyIds }) => ({
      instance_id: instanceId,
      has_key: masterKeyIds.includes(masterKeyId),
    })),
    left: await countLeft(db, box),
  }
}

async function rotateAll(gateway: OpenGateway) {
  const { instances } = await stateOf(gateway)
  const without = instances.filter(({ has_key }) => !has_key)
  if (without.length > 0)
    throw new CommandFailure(
      `${without.length} running instances lack the current master key. Give it to them first: aex gateway master-key rotate --help`,
    )
  const { db, box } = gateway
  const rewrapped = await rotateMasterKey(db, box, ({ what, rewrapped: done, count }) =>
    console.error(`${what}: ${done} done, ${count} left`),
  )
  const left = (await countLeft(db, box)).reduce((sum, { count }) => sum + count, 0)
  return { rewrapped, left }
}
