import { createProfile, DEFAULT_PROFILE, type DeploymentProfile } from '@agent-exchange/protocol'
import { CommandFailure } from './failure.ts'
import { readJson } from './read-json.ts'

/** The effective profile: the defaults, or a file's overrides laid over them. */
export async function profileFrom(file: string | undefined): Promise<DeploymentProfile> {
  if (file === undefined || file === '') return DEFAULT_PROFILE
  const read = await readJson(file)
  if (!read.ok) throw new CommandFailure(`The profile ${file} ${read.reason}.`)
  const result = createProfile(read.value)
  if (result.ok) return result.profile
  const lines = result.failures.map(
    ({ pointer, message }) => `  ${pointer === '' ? '(the file)' : pointer}  ${message}`,
  )
  throw new CommandFailure(`The profile ${file} cannot be used:\n${lines.join('\n')}`)
}
