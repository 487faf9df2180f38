import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { holds, refused, same, succeeded } from '../../run/expect.ts'
import type { Agent } from '../agent.ts'
import { draftPackage, send } from '../draft.ts'
import { pathOf } from '../operations.ts'

async function approve(context: Context, { organization }: Agent): Promise<string> {
  const connectorId = context.newId('connector')
  await context.hooks.approve_connector?.({
    organization_id: organization.organizationId,
    connector_id: connectorId,
  })
  return connectorId
}

const manifests: Check = {
  name: 'connectors/manifest',
  ids: ['PKG-03', 'PKG-05'],
  title: 'with approved connectors on both sides, signed manifests are taken and native packages are not',
  needs: ['approve_connector'],
  async run(context) {
    // No other check sends between these two, so they may become a pair with connectors.
    const { recipient: from, outsider: to } = context
    const connectorId = await approve(context, from)
    await approve(context, to)
    const draft = await draftPackage(context, from, to, { connectorId })
    const altered = { ...draft.body, edc: { ...(draft.body['edc'] as object), asset_id: 'asset_other' } }
    succeeded(await from.organization.call('POST', '/v1/policy-receipts', draft.receipt), 201)
    refused(
      await from.organization.call('POST', '/v1/packages', altered),
      'a manifest that was altered after signing',
      ['PKG-03'],
    )
    const created = succeeded(
      await from.organization.call('POST', '/v1/packages', draft.body),
      202,
      'a manifest',
      ['PKG-03', 'PKG-05'],
    )
    same(created.body['transport_mode'], 'ds_x', 'transport_mode of a manifest', ['PKG-05'])
    same(created.body['ciphertext_download_url'], undefined, 'a download address of a manifest', ['PKG-03'])
    const read = await to.organization.call('GET', pathOf('getPackage', { package_id: draft.packageId }))
    holds(
      succeeded(read, 200).body['transport_mode'] === 'ds_x',
      'the recipient reads another transport mode',
      ['PKG-05'],
    )
    const foreign = await draftPackage(context, from, to, { connectorId: context.newId('connector') })
    refused(await send(from, foreign), 'a manifest with a connector that nobody approved', ['PKG-03'])
    refused(
      await send(from, await draftPackage(context, from, to)),
      'a native package of a pair with connectors',
      ['PKG-05'],
    )
  },
}

export const CONNECTOR_CHECKS: readonly Check[] = [manifests]
