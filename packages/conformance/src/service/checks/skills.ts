import { createHash } from 'node:crypto'
import type { Check } from '../../run/check.ts'
import { asksForToken, holds, isTaken, listOf, refused, same, succeeded } from '../../run/expect.ts'
import { NotJudged } from '../../run/finding.ts'
import { download, WITHOUT_TOKEN } from '../download.ts'
import { pathOf } from '../operations.ts'
import { anyRelease } from '../scene.ts'

const RAW_SIGNATURE_BYTES = 64

const list: Check = {
  name: 'skills/list',
  ids: ['ID-09'],
  title: 'releases are narrowed to a protocol version, and each reads back as listed',
  async run(context) {
    const { sender } = context
    const release = await anyRelease(context)
    const { skill_id, version, protocol_range } = release
    const path = pathOf('getSkillRelease', { skill_id: String(skill_id), version: String(version) })
    same(
      succeeded(await sender.organization.call('GET', path), 200).body,
      release,
      'a release read by itself',
    )
    const at = async (protocolVersion: string) => {
      const query = new URLSearchParams({ protocol_version: protocolVersion })
      const answer = await sender.organization.call('GET', `/v1/skills?${query.toString()}`)
      const isKnown = isTaken(answer, 200, `the list of releases for ${protocolVersion}`)
      if (!isKnown) context.note('O-06', `the list of releases for ${protocolVersion}: ${answer.status}`)
      return isKnown ? listOf(answer.body['items'], 'items of the skill list') : []
    }
    const isListed = (items: readonly object[]) =>
      items.some((item) => JSON.stringify(item) === JSON.stringify(release))
    if (protocol_range === 'svc/1.0') {
      holds(isListed(await at('svc/1.0')), 'a release for svc/1.0 is not listed for svc/1.0')
      holds(!isListed(await at('svc/9.9')), 'a release for svc/1.0 is listed for svc/9.9')
    } else context.note('O-06', `protocol_range ${String(protocol_range)} was not interpreted`)
    const unknown = pathOf('getSkillRelease', { skill_id: context.newId('skill'), version: '1.0.0' })
    refused(await sender.organization.call('GET', unknown), 'an unknown release')
  },
}

const artifact: Check = {
  name: 'skills/artifact',
  ids: ['ID-10'],
  title: 'the artifact of a release has its digest, and the signature has the form of ES256',
  async run(context) {
    const { artifact_url, artifact_digest, manifest_signature } = await anyRelease(context)
    const url = String(artifact_url)
    const open = await download(context.sender, url, WITHOUT_TOKEN)
    const content = asksForToken(open) ? await download(context.sender, url) : open
    if (asksForToken(content)) throw new NotJudged('the artifact is not for the caller of the list')
    succeeded(content, 200, 'the artifact')
    const digest = createHash('sha256').update(content.bytes).digest('base64')
    same(artifact_digest, `sha-256=:${digest}:`, 'artifact_digest of the downloaded artifact')
    const { algorithm, signature } = manifest_signature as Readonly<Record<string, unknown>>
    same(algorithm, 'ES256', 'the algorithm of the manifest signature')
    const bytes = Buffer.from(String(signature), 'base64url')
    same(bytes.length, RAW_SIGNATURE_BYTES, 'bytes of the manifest signature')
  },
}

export const SKILL_CHECKS: readonly Check[] = [list, artifact]
