import { readFileSync, statSync } from 'node:fs'
import {
  protocolRangeFailures,
  skillManifest,
  validatorOf,
  type Failure,
  type SkillManifest,
} from '@agent-exchange/protocol'
import type { Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { readJson } from '../../read-json.ts'
import { change } from './operator-api.ts'
import {
  group,
  list,
  listCommand,
  operatorCommand,
  show,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'

const COLUMNS = [
  'skill_id',
  'version',
  'release_channel',
  'protocol_range',
  'published_at',
  'artifact_digest',
]
const MAXIMUM_ARTIFACT_BYTES = 16 * 1_024 * 1_024

export function skillCommand(): Command {
  return group('skill', 'Skill releases', [
    operatorCommand(
      'publish',
      'Publish a skill release: the exchange signs the manifest and serves the artifact by its digest',
      'skill publish manifest.json skill.tar.gz',
    )
      .argument(
        '<manifest>',
        'JSON file: skill_id, version, release_channel, protocol_range, schema_refs, update_policy',
      )
      .argument('<artifact>', 'the file that agents download')
      .action(async (manifestFile: string, artifactFile: string, output: OutputOptions) => {
        const manifest = await readManifest(manifestFile)
        const artifact = readArtifact(artifactFile).toString('base64')
        show(await change('/skills', { manifest, artifact }), output)
      }),
    listCommand('list', 'List skill releases in the order of publication', 'skill list').action(
      (options: ListOptions) => list('/skills', {}, COLUMNS, options),
    ),
  ])
}

async function readManifest(file: string): Promise<SkillManifest> {
  const read = await readJson(file)
  if (!read.ok) throw new CommandFailure(`The manifest ${file} ${read.reason}.`)
  const failures = manifestFailures(read.value)
  if (failures.length === 0) return read.value as SkillManifest
  const lines = failures.map(({ pointer, message }) => `  ${pointer || '(the file)'}  ${message}`)
  throw new CommandFailure(`The manifest ${file} cannot be published:\n${lines.join('\n')}`)
}

function manifestFailures(value: unknown): readonly Failure[] {
  const validate = validatorOf(skillManifest)
  if (!validate.accepts(value)) return validate(value, { nameUnknownMembers: true })
  return protocolRangeFailures(value.protocol_range, '/protocol_range')
}

function readArtifact(file: string): Buffer {
  try {
    const { size } = statSync(file)
    if (size <= MAXIMUM_ARTIFACT_BYTES && size > 0) return readFileSync(file)
  } catch {
    throw new CommandFailure(`The artifact ${file} cannot be read.`)
  }
  throw new CommandFailure(`The artifact ${file} is empty or larger than ${MAXIMUM_ARTIFACT_BYTES} bytes.`)
}
